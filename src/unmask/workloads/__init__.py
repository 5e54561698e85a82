"""Plug-ins: from what was seen of a guest to its encrypted workloads, one kind a module."""
