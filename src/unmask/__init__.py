"""Audit which CPU features a hypervisor hides from its guests, and what that costs them."""

__version__ = "0.1.0"
