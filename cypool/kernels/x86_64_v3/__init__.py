"""The kernels as built for x86_64_v3; empty but for what the build puts here."""
