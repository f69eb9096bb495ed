"""The kernels as built for baseline; empty but for what the build puts here."""
