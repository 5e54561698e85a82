"""What all tests share: the fixtures for real peers, and how their tests are marked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# `make bench` runs the benchmarks from the checkout, as a package beside the tests.
sys.path.append(str(Path(__file__).parents[1]))

# In the order in which they import each other: pytest rewrites asserts only before an import.
pytest_plugins = [
    "support.guest_image",
    "support.libvirtd",
    "support.cpuinfo_guest",
    "support.booted_guest",
    "support.built_packages",
    "support.tls_server",
    "support.browser",
    "support.report_pages",
]

PEERS = frozenset(
    {
        "booted_guest",
        "browser",
        "buildah",
        "cpuinfos",
        "debian",
        "guest_image",
        "libvirtd",
        "openssl_server",
    }
)
FIRST_BUILD_SECONDS = 1800
"""A peer's test may be the one that builds the guest image."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses a peer, so that `-m "not peer"` leaves them out.

    Files with such tests come first: they take longest, and where tests run side by side nothing
    else would be left to do beside the last of them.
    """
    slow: set[Path] = set()
    for item in items:
        if PEERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.peer)
            item.add_marker(pytest.mark.timeout(FIRST_BUILD_SECONDS))
            slow.add(item.path)
    items.sort(key=lambda item: item.path not in slow)
