"""What is known about each piece of encryption software, as `data/consumers.json` has it.

A consumer has a path for each family of ciphers; a path is a ladder of implementations (tiers),
the best one first, and the software takes the first one whose flags it sees. The tier marked
`fast` is the reference: with it or a better one, nothing worth speaking of is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from unmask.cpu import data_file
from unmask.crypto import versions
from unmask.model.outlook import Status


@dataclass(frozen=True, slots=True)
class Tier:
    """One implementation of a cipher."""

    name: str
    flags: tuple[str, ...]
    """What the software looks for before it takes this one."""
    status: Status
    how: str
    fast: bool = False
    unasked: tuple[str, ...] = ()
    """Flags whose instructions it executes without looking for them."""
    at_load: tuple[str, ...] = ()
    """The same for code that its driver runs when it is loaded, whatever the cipher."""
    since: str = ""
    """The first release that has it; "" for all that were looked at."""
    below: str = ""
    """The first release that no longer has it."""

    def present_in(self, version: tuple[int, ...]) -> bool | None:
        """Return whether a version has it; None where that depends and is not known."""
        return versions.within(version, self.since, self.below)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rates of one release on one machine."""

    release: str
    what: str
    """Cipher and block size."""
    where: str
    """The silicon, and how flags were taken away."""
    rates: Mapping[str, float]
    """MB/s (1e6 bytes) by tier."""
    native: float | None = None
    """MB/s with all flags of that silicon."""
    since: str = ""
    below: str = ""
    """Releases that it stands for."""


@dataclass(frozen=True, slots=True)
class Path:
    """How a consumer does one family of ciphers."""

    family: str
    tiers: tuple[Tier, ...] = ()
    uses: tuple[str, ...] = ()
    """Consumers that do it in place of this one; several where it is not known which."""
    measured: tuple[Measurement, ...] = ()
    alternative: str = ""
    """A family that the same software has and that may be faster."""

    def fast(self, version: tuple[int, ...] = ()) -> Tier | None:
        """Return the tier that the software needs in order to be fast, the easiest one to reach.

        None where there is none in this version.
        """
        return next(
            (tier for tier in reversed(self.tiers) if tier.fast and tier.present_in(version)), None
        )


@dataclass(frozen=True, slots=True)
class Consumer:
    """Software that encrypts."""

    identity: str
    name: str
    """Its name for people."""
    default: str
    """The family that it uses where nothing else is said."""
    paths: Mapping[str, Path] = field(hash=False)
    version_of: str
    """Whose version `outlook.judge` takes: its own, or that of the library or kernel it uses."""
    assumed: str
    """The version whose code and figures are shown where the version is not known."""
    observe: str
    """How to see in the guest what it runs on."""
    origin: str
    """The releases and files in which it was read."""
    arm: bool = False
    """Whether the ARMv8 ladder holds for it."""
    x86_only: bool = False
    chacha_unless: tuple[str, ...] = ()
    """It prefers ChaCha20-Poly1305 where it does not see all of these."""
    aes_first: bool = False
    """It prefers AES whatever the CPU shows."""
    inferred: str = ""
    """A sentence where it is only inferred that this software behaves so."""
    pitfalls: tuple[str, ...] = ()
    """What looks like evidence and is none, a sentence each."""

    def needs(self, family: str = "", version: str = "") -> tuple[str, ...]:
        """Return the flags of the fast path; () where there is no such path of its own.

        Instructions that are executed without being looked for are not in it (`Tier.unasked`).
        """
        path = self.paths.get(family or self.default)
        fast = path.fast(versions.parse(version or self.assumed)) if path else None
        return fast.flags if fast else ()


@cache
def consumers() -> Mapping[str, Consumer]:
    """Return what is known, by identity, in the order of the file."""
    entries = data_file.read("consumers", "unmask.crypto")["consumers"]
    return {identity: _consumer(identity, entry) for identity, entry in entries.items()}


@cache
def arm() -> Mapping[str, Path]:
    """Return the ladders of software that knows ARMv8's instructions, by family."""
    return _paths(data_file.read("consumers", "unmask.crypto")["arm"])


def _consumer(identity: str, entry: dict[str, Any]) -> Consumer:
    words = {
        "paths": _paths(entry["paths"]),
        "chacha_unless": tuple(entry.get("chacha_unless", "").split()),
        "pitfalls": tuple(entry.get("pitfalls", ())),
    }
    return Consumer(identity=identity, **(entry | words))


def _paths(entries: dict[str, Any]) -> dict[str, Path]:
    return {
        family: _path(family, entry) for names, entry in entries.items() for family in names.split()
    }


def _path(family: str, entry: dict[str, Any]) -> Path:
    return Path(
        family=family,
        tiers=tuple(_tier(tier) for tier in entry.get("tiers", ())),
        uses=tuple(entry.get("uses", "").split()),
        measured=tuple(Measurement(**rates) for rates in entry.get("measured", ())),
        alternative=entry.get("alternative", ""),
    )


def _tier(entry: dict[str, Any]) -> Tier:
    lists = {key: tuple(entry.get(key, "").split()) for key in ("flags", "unasked", "at_load")}
    return Tier(**(entry | lists | {"status": Status(entry["status"])}))
