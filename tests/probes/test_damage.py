"""Parsers and splitter over damaged, cut and flooding answers."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
import time
from typing import Any

import pytest

from support import probe_case
from support.probe_shell import MARK, output
from unmask.dialects.records import codec
from unmask.errors import InputError
from unmask.model.inside import Inside
from unmask.model.reading import Known
from unmask.probes import _reading
from unmask.probes._bounds import TEXT_LIMIT, bounded
from unmask.probes._section import End, Section, printable

PROBES = _reading.probes()
POSIX = {module: probe for module, probe in probe_case.probes().items() if probe in PROBES}
ROUNDS = 60


def test_every_cut_of_an_answer_is_understood() -> None:
    sections = [(each.name, "".join(_raw(module))) for module, each in POSIX.items()]
    raw = output(*sections)
    generator = random.Random(4)  # noqa: S311 - not for secrets
    for _ in range(ROUNDS):
        inside = _reading.read(raw[: generator.randrange(len(raw))], MARK, PROBES)
        _check(inside)


def _raw(module: str) -> list[str]:
    case = probe_case.cases(module)[0]
    parts = [f"\n{MARK} .{name}\n{text}" for name, text in case["parts"].items()]
    return [case.get("content", ""), *parts]


@pytest.mark.parametrize("module", [*POSIX, "windows_bitlocker", "windows_cpu"])
def test_parsers_take_anything(module: str) -> None:
    probe = probe_case.probes()[module]
    generator = random.Random(module)  # noqa: S311 - not for secrets
    cases = probe_case.cases(module)
    for _ in range(ROUNDS):
        case = generator.choice(cases)
        section = probe_case.section(case)
        damaged = Section(
            content=_damaged(generator, section.content),
            parts={name: _damaged(generator, text) for name, text in section.parts.items()},
            status=generator.choice([0, 1, 127, None]),
            end=generator.choice([End.DONE, End.LATE, End.BROKEN]),
        )
        try:
            value = bounded(probe.parse(damaged))
        except InputError:
            continue
        _check(probe_case.filled({probe.name: Known(value)}))


def _damaged(generator: random.Random, content: bytes) -> bytes:
    """Return `content` with bytes changed, lines doubled, cut, swapped or made long."""
    data = bytearray(content)
    lines = content.split(b"\n")
    match generator.randrange(8):
        case 0:
            for _ in range(generator.randrange(1, 20)):
                data[generator.randrange(len(data) + 1) :][:1] = b""
                if data:
                    data[generator.randrange(len(data))] = generator.randrange(256)
        case 1:
            data = data[: generator.randrange(len(data) + 1)]
        case 2:
            generator.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        case 3:
            data = bytearray(generator.randbytes(generator.randrange(2000)))
        case 4:
            data += generator.choice(
                [b"\x1b]0;x\x07", b"\xff\xfe", b"\0", b"[" * 9000, b"9" * 9000]
            )
        case 5:
            data = bytearray(b" ".join(lines))
        case 6:
            data = bytearray(b"\n".join(line * generator.choice([1, 1, 200]) for line in lines))
        case _:
            words = content.split()
            generator.shuffle(words)
            data = bytearray(b" ".join(words))
    return bytes(data)


def _check(inside: Inside) -> None:
    """Hold that it can be saved, and that every text of it is printable and short."""
    saved = json.dumps(codec(Inside).dump(inside))
    assert codec(Inside).load(json.loads(saved)) == inside
    for text in _texts(inside):
        assert len(text) <= TEXT_LIMIT
        assert printable(text) == text
        assert "\n" not in text


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple | frozenset):
        return [text for item in value for text in _texts(item)]
    if dataclasses.is_dataclass(value):
        return [
            text
            for field in dataclasses.fields(value)
            for text in _texts(getattr(value, field.name))
        ]
    return []


def test_a_flood_is_parsed_in_no_time() -> None:
    flood = {
        "block_devices": ("tree", b"NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT\n" + b"| " * 100_000),
        "listeners": ("sockets", b"tcp LISTEN 0 0 0.0.0.0:1 0.0.0.0:* " + b'("x",pid=1,' * 20_000),
        "kernel_crypto": ("messages", b"aes " * 60_000),
        "ipsec": ("xfrm", b"\taead " + b"x" * 250_000),
        "system": ("/etc/os-release", b"ID='" + b"a'b" * 80_000),
        "openvpn": ("/etc/openvpn/a.conf", b"cipher " + b"A:" * 100_000),
        "dm_crypt": ("table", b"a: 0 1 crypt " + b" :" * 100_000),
        "tls_services": ("/etc/nginx/nginx.conf", b"listen " + b"1:" * 100_000),
        "databases": ("/etc/my.cnf", b"ssl " + b" =" * 100_000),
    }
    for module, (part, content) in flood.items():
        started = time.monotonic()
        for text in (content, content[::-1], content * 3):
            with contextlib.suppress(InputError):
                POSIX[module].parse(Section(b"Linux\n", parts={part: text}))
        assert time.monotonic() - started < 2, module


@pytest.mark.parametrize(
    ("module", "part", "content"),
    [
        ("samba", "settings", b"[global]\n" + b" " * 60_000 + b"x"),
        ("cpu", "dmesg", b"aesni0: <AES-\nCPU: " + b" " * 60_000 + b"x"),
        ("cpu", "dmesg", b"aesni0: <\n" * 20_000),
        ("cpu", "dmesg", b" Features=0x1<\n" * 15_000),
        ("cpu", "dmesg", b" Features=0x1<FPU>\n" + b'Origin="" ' * 20_000),
        ("cpu", "cpuinfo", b"x" + b"\n" * 250_000),
        ("luks_headers", "luks /dev/a", b"Cipher: x" + b" " * 60_000 + b"y"),
        ("system", "libc", b"musl libc" * 7_000),
        ("system", "loader", b"x" + b"\n" * 60_000),
    ],
)
def test_what_repeats_itself_is_parsed_in_no_time(module: str, part: str, content: bytes) -> None:
    """A pattern that comes back to the same place holds up every other guest: nothing ends it."""
    parts = {"devices": b"", part: content}
    started = time.process_time()
    with contextlib.suppress(InputError):
        POSIX[module].parse(Section(b"Linux\n", parts=parts))
    assert time.process_time() - started < 1
