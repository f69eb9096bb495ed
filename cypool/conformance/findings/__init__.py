"""Take one finding in hand: bundles, scripts that reproduce it, texts ready to file."""
