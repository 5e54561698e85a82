"""The pages call one thing by one name: the words of docs/README.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.golden import ROOT

PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "docs/usage.md"})
OTHERS = {
    r"VMs?": "guest",
    r"[Hh]ot migrations?|[Oo]nline migrations?": "live migration",
    r"AESNI|AES NI": "AES-NI",
    r"PCLMULDQ|PCLMUL": "PCLMULQDQ",
    r"[Hh]ost passthrough": "host-passthrough",
    r"[Cc]ipher suits?": "suite",
    r"[Hh]ypervisor nodes?": "node",
    r"Prox[Mm]ox VE \(PVE\)|PVE": "Proxmox VE",
    r"[Cc]hecksums?": "check sum, or digest for Proxmox VE's",
}
"""Words that are not ours, with ours."""


def prose(text: str) -> str:
    """Return running text: no code, no addresses, nothing that is quoted, and no references."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^## References$.*?(?=^## |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`]*`|\]\([^)]*\)|\"[^\"]*\"", "", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_our_words(page: Path) -> None:
    text = prose(page.read_text(encoding="utf-8"))
    found = {
        word: ours
        for theirs, ours in OTHERS.items()
        for word in re.findall(rf"(?<![\w./-])(?:{theirs})(?![\w./-])", text)
    }
    assert not found


def test_a_word_that_is_not_ours_is_found() -> None:
    (pattern,) = [theirs for theirs, ours in OTHERS.items() if ours == "guest"]
    assert re.search(pattern, prose("The VMs of a node, but not `VM.Audit`."))
