# ruff: noqa: ARG001
"""Placeholder until the network module lands."""

from collections.abc import Sequence

from unmask.model.inventory import Guest
from unmask.model.tls_endpoint import TlsEndpoint


def ports(guest: Guest) -> tuple[int, ...]:
    """Return none."""
    return ()


def endpoints(
    addresses: Sequence[str], ports: Sequence[int], seconds: float
) -> tuple[TlsEndpoint, ...]:
    """Return none."""
    return ()
