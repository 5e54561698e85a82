"""Which encryption software needs which CPU flags, and what to expect of it on a given CPU."""
