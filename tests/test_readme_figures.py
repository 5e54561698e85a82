"""Every figure in the README's running text is one that the program's data or recordings have."""

from __future__ import annotations

import json
import re
from typing import Any

from support import proxmox_oracle as oracle
from support.golden import FIXTURES, ROOT
from unmask.cpu import catalogue
from unmask.crypto.sentence import percent

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = " ".join(README.split())
CONSUMERS = json.loads((ROOT / "src/unmask/crypto/data/consumers.json").read_text("utf-8"))[
    "consumers"
]
COLUMNS = {
    "OpenSSL 3.0": ("openssl", "gcm", "stitched", "aes"),
    "Go 1.24": ("go", "gcm", "asm", "aes"),
    "Java 17": ("java", "gcm", "vaes-avx512", "aes"),
    "OpenZFS 2.4": ("openzfs", "gcm", "avx", "aes"),
    "LUKS (AES-XTS)": ("openssl", "xts", "aes", "aes"),
}
"""Software: its consumer and path, the rung with PCLMULQDQ and the one without."""


def measured(consumer: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = CONSUMERS[consumer]["paths"][path]["measured"][0]
    return found


def test_the_table_has_what_was_measured() -> None:
    names, _, kept = re.findall(r"^\|(.*)\|$", README, re.MULTILINE)[:3]
    shown = dict(zip(*(map(str.strip, row.split("|")) for row in (names, kept)), strict=True))
    assert shown.keys() == COLUMNS.keys()
    for name, (consumer, path, whole, without) in COLUMNS.items():
        rates = measured(consumer, path)["rates"]
        assert shown[name] == percent(rates[without] / rates[whole]), name
        release = measured(consumer, path)["release"]
        assert name.startswith("LUKS") or name.split()[-1] in release


def test_the_rates_of_the_first_paragraph_were_measured() -> None:
    openssl = measured("openssl", "gcm")
    assert f"does {openssl['rates']['asm-tables']} MB/s on a processor" in PROSE
    assert f"that does {openssl['native']};" in PROSE
    files = [
        (FIXTURES / f"bench/headlines/zfs-write-{when}.txt").read_text(encoding="utf-8")
        for when in ("before", "after")
    ]
    before, after = (re.findall(r"(\d+) MB/s", text)[0] for text in files)
    assert f"of encrypted ZFS is {before} and {after} MB/s of writes" in PROSE


def test_the_models_are_counted() -> None:
    assert f"The flags of {len(catalogue.names())} CPU models" in PROSE


def test_the_recorded_settings_are_counted() -> None:
    lines = oracle.recorded("cpu-cmdline.json").values()
    cases = len(oracle.recorded("conf-oracle.json")["cases"]) + sum(map(len, lines))
    assert f"{cases} settings that a real Proxmox VE 9.2 has read" in PROSE
