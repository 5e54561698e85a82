"""Answers of a guest that means harm: well framed, and full of what a terminal would obey."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

from support.unmask_command import Answer

CLEAR, TITLE, LINK = "\x1b[2J", "\x1b]0;owned\x07", "\x1b]8;;http://evil.example\x1b\\"
C1, BIDI, BACK, HTML = "\x9b31m", "\u202egnp.exe", "\b\b\b\r", "<script>alert(1)</script>"
EVIL = f"{CLEAR}{TITLE}{LINK}{C1}{BIDI}{BACK}\0{HTML}"
SIGNS = ("owned", "script")
"""Words of `EVIL` that are harmless: that they are shown proves that the rest came as far."""

MARK = "@MARK@"
"""Stands where the mark of the run has to be."""

SECTIONS = {
    "system": f"Linux\n6.1.0{EVIL}\nx86_64\n\n{MARK} ./etc/os-release\nID=debian\n"
    f'PRETTY_NAME="Debian {EVIL}"\n',
    "cpu": f"\n{MARK} .cpuinfo\nprocessor\t: 0\nvendor_id\t: GenuineIntel\n"
    f"model name\t: {EVIL}\nflags\t\t: fpu lm sse2 {EVIL} {'x' * 10_000_000}\n",
    "crypttab": f"\n{MARK} ./etc/crypttab\n"
    "a\\x1b[2J\\x07owned UUID=1 - luks,cipher=aes-xts-plain64\n"
    f"b{EVIL} UUID=2 - luks\n",
    "dm_crypt": f"\n{MARK} .uuids\nc{EVIL}\tCRYPT-LUKS2-1234-x\n"
    f"\n{MARK} .table\nd{EVIL}: 0 100 crypt aes-xts-plain64 :64:logon:k 0 8:1 4096\n",
    "listeners": f"\n{MARK} .sockets\n"
    f'tcp LISTEN 0 511 0.0.0.0:443 0.0.0.0:* users:(("{EVIL}",pid=7,fd=5))\n',
    "zfs": f"\n{MARK} .datasets\nNAME\tENCRYPTION\tTYPE\ntank/{EVIL}\taes-256-gcm\tfilesystem\n",
    "file_encryption": f"\n{MARK} .mounts\n/e\\033[2J\\007owned /m{EVIL} fuse.gocryptfs rw\n",
    "block_devices": f"\n{MARK} .json\n{'[' * 100_000}\n",
    "ssh": f"\n{MARK} .version\nOpenSSH_9.2p1{EVIL}\n\n{MARK} = {EVIL}\n",
    "kernel_crypto": f"\n{MARK} .messages\n[0.1] alg: self-test {EVIL}\n",
}


def lies(length: int = 2_000_000) -> str:
    """Return the whole answer, cut to a number of characters, with `MARK` for the mark."""
    framed = "".join(
        f"\n{MARK} {name}\n{text[: length // 2]}\n{MARK} = 0\n" for name, text in SECTIONS.items()
    )
    return f"{EVIL}\n{MARK} user\n0\n{framed}\n{MARK} end\n"


def harmless(answer: Answer) -> None:
    """Hold that nothing printed could do anything to a terminal, or hide in a JSON report."""
    assert unsafe(answer.output) == set()
    assert unsafe(answer.errors) == set()
    if answer.output.startswith("{"):
        assert {
            item for text in _texts(json.loads(answer.output)) for item in unsafe(text)
        } == set()


def unsafe(text: str) -> set[str]:
    """Return the names of characters that are not plainly printed, line breaks apart."""
    return {
        f"U+{ord(character):04X}"
        for character in text
        if character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs")
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
