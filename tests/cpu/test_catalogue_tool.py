"""The tool that writes the catalogue's data: merging, comparing, and how it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import catalogue_tool
from unmask.cpu import catalogue

tool = catalogue_tool.load()

EMPTY: dict[str, Any] = {"aliases": {}, "kvm": {"off": "", "on": ""}, "models": {}, "releases": {}}


def release(number: str, **models: tuple[str, str]) -> Any:
    """Return a release with models, given as name=(alias, flags); "_" in a name stands for "-"."""
    return tool.Release(
        number=number,
        build={"package": "none", "release": f"{number}.0", "tcg": "aes sse2"},
        models={
            name.replace("_", "-"): tool.Model(alias, "GenuineIntel", frozenset(flags.split()))
            for name, (alias, flags) in models.items()
        },
        kvm_on=frozenset({"x2apic"}),
        kvm_off=frozenset({"svm"}),
    )


def test_a_later_version_is_written_as_a_change() -> None:
    first = release("7.2", Chip=("Chip-v1", "aes sse2"), Chip_v1=("", "aes sse2"))
    both = tool.merge(EMPTY, first)
    second = release("10.0", Chip_v1=("", "aes sse2"), Chip_v2=("", "sse2 pclmulqdq"))
    both = tool.merge(both, second)
    assert both["aliases"] == {"Chip": "Chip-v1"}
    assert both["kvm"] == {"off": "svm", "on": "x2apic"}
    assert both["releases"].keys() == {"7.2", "10.0"}
    assert both["models"] == {
        "Chip-v1": {"flags": "aes sse2", "since": "7.2", "vendor": "GenuineIntel"},
        "Chip-v2": {
            "like": "Chip-v1",
            "plus": "pclmulqdq",
            "minus": "aes",
            "since": "10.0",
            "vendor": "GenuineIntel",
        },
    }
    assert catalogue.expand(both["models"], "Chip-v2") == {"sse2", "pclmulqdq"}


def test_the_order_of_releases_does_not_matter() -> None:
    old = release("7.2", Chip_v1=("", "aes"))
    new = release("10.0", Chip_v1=("", "aes"), Chip_v2=("", "aes sse2"))
    one_way, other_way = (
        tool.merge(tool.merge(EMPTY, first), then) for first, then in ((old, new), (new, old))
    )
    assert one_way == other_way
    assert one_way["models"]["Chip-v1"]["since"] == "7.2"
    assert tool.merge(one_way, old) == one_way


def test_a_changed_definition_is_refused() -> None:
    before = tool.merge(EMPTY, release("7.2", Chip_v1=("", "aes")))
    with pytest.raises(tool.QemuError, match=r"QEMU 10\.0 defines Chip-v1 differently: sse2"):
        tool.merge(before, release("10.0", Chip_v1=("", "aes sse2")))


def test_differences_are_named_where_they_are() -> None:
    before = {"models": {"A": {"flags": "aes"}, "B": {"flags": "x"}}}
    after = {"models": {"A": {"flags": "aes sse2"}, "B": {"flags": "x"}, "C": {}}}
    assert list(tool.differences(before, after)) == [
        "models A flags: 'aes' -> 'aes sse2'",
        "models C: None -> {}",
    ]
    assert list(tool.differences(before, before)) == []


def test_a_model_that_vanished_is_said() -> None:
    before = tool.merge(EMPTY, release("7.2", Chip_v1=("", "aes"), Core_v1=("", "aes")))
    assert list(tool.gone(before, release("10.0", Chip_v1=("", "aes")))) == [
        "QEMU 10.0 has no Core-v1"
    ]
    assert list(tool.gone(before, release("6.2"))) == []


def test_the_data_file_is_as_the_tool_writes_it() -> None:
    text = tool.DATA.read_text(encoding="utf-8")
    document = json.loads(text)
    assert text == json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    for name in document["models"]:
        flags = {each: catalogue.expand(document["models"], each) for each in document["models"]}
        entry = {key: document["models"][name][key] for key in ("since", "vendor")}
        assert document["models"][name] == entry | tool._written(name, flags)


@pytest.mark.parametrize("command", ["/no/such/qemu", sys.executable])
def test_what_is_no_qemu_ends_with_one_line(command: str) -> None:
    path = Path(tool.__file__ or "")
    run = subprocess.run(
        [sys.executable, path, "--qemu", command, "--check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert command in run.stderr
    assert "Traceback" not in run.stderr
