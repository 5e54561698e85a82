"""The same checkout gives the same bytes, in whichever folder and whenever it is built."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.built_packages import ROOT, Packages, build

PARTS = ("src", "docs", "examples", "packaging", "tools")
FILES = ("pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md")


@pytest.fixture(scope="module")
def twice(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> tuple[Packages, ...]:
    """All packages of a copy of the checkout, and of a copy of that."""
    assert packages.pyz.exists()  # so that what is bundled has been fetched
    one = tmp_path_factory.mktemp("one")
    for name in PARTS:
        shutil.copytree(ROOT / name, one / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, one)
    (one / "build").symlink_to(ROOT / "build")
    other = tmp_path_factory.mktemp("elsewhere") / "with/a/longer/name"
    shutil.copytree(one, other, symlinks=True)
    for path in other.rglob("*.md"):
        path.touch()
    return tuple(build(root / "dist", root=root) for root in (one, other))


@pytest.mark.parametrize("kind", ["wheel", "sdist", "pyz", "deb"])
def test_both_are_equal(twice: tuple[Packages, ...], kind: str) -> None:
    one, other = (Path(getattr(packages, kind)).read_bytes() for packages in twice)
    assert one == other
