"""What OpenSSL and LibreSSL say of themselves: `version -a`, `version -c`, the head of `speed`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unmask.dialects.bench import _screen
from unmask.model.inside_programs import OpenSsl

_NAMED = re.compile(
    r"\b(?P<library>OpenSSL|LibreSSL|BoringSSL)(?: \(version)? "
    r"(?P<version>[0-9](?:[\w.+~-]*[\w+~-])?)(?:, built on)?(?P<rest>[^\n]{0,80})"
)
_BARE = re.compile(r"^version: (?P<version>[0-9][\w.+~-]{0,40})", re.MULTILINE)
_DATE = re.compile(r"\b(\d{1,2} [A-Z][a-z]{2} \d{4})\b")
_BUILT = re.compile(r"^built on: ?(?:built on: ?)?(?P<date>[^\n]{1,80})$", re.MULTILINE)
_OPTIONS = re.compile(r"^options: ?(?P<options>[^\n]{1,200})$", re.MULTILINE)
_COMPILER = re.compile(r"^compiler: ?(?P<compiler>[^\n]{1,1000})$", re.MULTILINE)
_PLATFORM = re.compile(r"^platform: ?(?P<platform>[^\n]{1,80})$", re.MULTILINE)
_CAPABILITIES = re.compile(
    r"OPENSSL_(?P<kind>\w{1,12})cap=(?P<words>(?:0x)?[0-9a-f]{1,16}(?::0x[0-9a-f]{1,16}){0,7})"
    r"(?: env:(?P<mask>[0-9a-fA-Fx~:]{1,120}))?"
)
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class Build:
    """More about a library than `OpenSsl` holds; "" and None for what is not told."""

    release: tuple[int, ...] = ()
    """(3, 0, 20); () for a library other than OpenSSL."""
    released: str = ""
    """"15 Mar 2022"."""
    built: str = ""
    options: str = ""
    platform: str = ""
    word: int | None = None
    """Bits of the machine word that it is built for: 32 or 64."""
    assembly: bool | None = None
    """Whether AES-NI code is built in, where the compiler's arguments tell (1.0.1 to 1.1.1)."""
    architecture: str = ""
    """"ia32" or "arm": whose capabilities it prints (3.0 and later)."""
    mask: str = ""
    """The variable's value that changed the capabilities: "~0x200000200000000"."""


def version(text: str) -> OpenSsl:
    """Return the version, "OpenSSL 3.0.20", and the capabilities after masking; empty for none."""
    text = _screen.readable(text)
    capabilities = _CAPABILITIES.search(text)
    return OpenSsl(
        version=_version(text), capabilities=capabilities["words"] if capabilities else ""
    )


def build(text: str) -> Build:
    """Return what else the library says of how it was built and how it sees its CPU."""
    text = _screen.readable(text)
    capabilities = _CAPABILITIES.search(text)
    named = _NAMED.search(text)
    date = _DATE.search(named["rest"]) if named else None
    options = _first(_OPTIONS, text)
    return Build(
        release=release(_version(text)),
        released=date[1] if date else "",
        built=_first(_BUILT, text),
        options=options,
        platform=_first(_PLATFORM, text),
        word=_word(options),
        assembly=_assembly(_first(_COMPILER, text)),
        architecture=capabilities["kind"] if capabilities else "",
        mask=(capabilities["mask"] or "") if capabilities else "",
    )


def release(name: str) -> tuple[int, ...]:
    """Return (1, 0, 2) for "OpenSSL 1.0.2g"; () for libraries that count otherwise."""
    match = _RELEASE.search(name) if name.startswith("OpenSSL ") else None
    return tuple(int(part) for part in match.groups() if part) if match else ()


def _version(text: str) -> str:
    """Return the version of the program's own library, which `version -a` names in parentheses."""
    named = _NAMED.search(text)
    if named:
        return f"{named['library']} {named['version'][:40]}"
    bare = _BARE.search(text)
    return f"OpenSSL {bare['version']}" if bare else ""


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""


def _word(options: str) -> int | None:
    match = re.search(r"\bbn\((64|32),(64|32|16)\)", options)
    if not match:
        return None
    return 64 if match[2] == "64" else 32


def _assembly(compiler: str) -> bool | None:
    """Return whether `-DAESNI_ASM` is among the arguments; 3.0 and later print them no longer."""
    if not re.search(r"-D\w*_ASM\b", compiler):
        return None
    return "-DAESNI_ASM" in compiler or "-DVPAES_ASM" in compiler
