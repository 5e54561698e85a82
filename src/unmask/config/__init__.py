"""Settings from file, environment and options."""
