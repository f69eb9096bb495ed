"""The kernels as built for x86_64_v4; empty but for what the build puts here."""
