"""Every probe's parser over what many systems print."""

from __future__ import annotations

import typing
from typing import Any

import pytest

from support import probe_case
from unmask.model.inside import Inside
from unmask.probes._probe import Shell


@pytest.mark.parametrize(("module", "number", "name"), probe_case.all_cases())
def test_case(module: str, number: int, name: str) -> None:
    assert name
    probe_case.check(module, number)


def test_each_probe_has_cases_and_each_file_its_probe() -> None:
    files = {path.stem for path in probe_case.FOLDER.glob("*.json")}
    assert files == set(probe_case.probes())


def test_each_probe_fills_a_field_with_what_it_returns() -> None:
    fields: dict[str, Any] = typing.get_type_hints(Inside)
    for module, probe in probe_case.probes().items():
        known, _ = typing.get_args(fields[probe.name])
        assert typing.get_args(known) == (typing.get_type_hints(probe.parse)["return"],), module


def test_each_field_is_read_in_some_guest() -> None:
    names = [(probe.shell, probe.name) for probe in probe_case.probes().values()]
    assert len(names) == len(set(names))
    read = {name for _, name in names}
    assert read == set(typing.get_type_hints(Inside)) - {"root", "partial"}


def test_a_module_is_named_after_its_field() -> None:
    for module, probe in probe_case.probes().items():
        prefix = "windows_" if probe.shell is Shell.POWERSHELL else ""
        assert module == prefix + probe.name
