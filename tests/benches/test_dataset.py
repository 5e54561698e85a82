"""Files on datasets: what is written, what is read back, and that nothing is left."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from support.bench_shell import SHELLS, Place, place
from unmask.benches import _dataset
from unmask.benches._plan import Dataset, Plan
from unmask.model.bench import PLAIN, Ended, Tool

SOON = 20.0
ZFS = """\
for dataset; do :; done
value() {{ eval "echo \\"\\$$1\\""; }}
mounted={mounted} mountpoint='{mountpoint}' encryption={encryption} available={available}
keystatus={keystatus} compression=lz4 sync={sync} recordsize=131072
case "$*" in
    *property,value*)
        for name in encryption keystatus mounted mountpoint available compression sync recordsize
        do
            printf '%s\\t%s\\n' "$name" "$(value "$name")"
        done ;;
    *) for name in mounted mountpoint available; do
           case "$*" in *" $name "*) value "$name" ;; esac
       done ;;
esac
"""
GIB = 2**30


def pool(machine: Place, folder: Path, **changes: str) -> Path:
    """Give a machine ZFS with an encrypted dataset that is a directory."""
    folder.mkdir(exist_ok=True)
    told = {
        "mounted": "yes",
        "mountpoint": str(folder),
        "encryption": "aes-256-gcm",
        "available": str(GIB),
        "keystatus": "available",
        "sync": "standard",
    } | changes
    machine.has("zfs", ZFS.format(**told))
    machine.has("awk", 'case "$*" in *c_max*) echo 64; exit;; esac\nexec /usr/bin/awk "$@"')
    return folder


@pytest.fixture(params=SHELLS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place(request.param, tmp_path)


def plan(mebibytes: int = 96, setting: str = PLAIN) -> Plan:
    return Plan(datasets=(Dataset("tank/secure", setting, mebibytes),), budget=60)


def test_a_file_is_written_and_read_and_removed(machine: Place, tmp_path: Path) -> None:
    folder = pool(machine, tmp_path / "tank secure")
    answer = machine.run(plan())
    assert [(one.tool, one.algorithm) for one in answer.samples] == [
        (Tool.ZFS, "write"),
        (Tool.ZFS, "read"),
    ]
    for one in answer.samples:
        # A small file in memory may be read in less time than bears a rate; busybox tells no time.
        assert one.rate or "too short" in one.note or "no time" in one.note
        assert "96+0 records" in one.raw
    assert list(folder.iterdir()) == []
    (seen,) = answer.datasets
    assert list(_dataset.problems(seen, PLAIN)) == []


def test_a_file_that_fits_into_the_arc_is_not_read_back(machine: Place, tmp_path: Path) -> None:
    pool(machine, tmp_path / "tank")
    answer = machine.run(plan(mebibytes=80))
    assert [one.algorithm for one in answer.samples] == ["write"]
    (said,) = _dataset.problems(answer.datasets[0], PLAIN)
    assert said.startswith("tank/secure was not read: the ARC may take 64 MiB")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mounted": "no", "keystatus": "unavailable"}, "its key is not loaded"),
        ({"mounted": "no"}, "is not mounted: nothing was written"),
        ({"available": str(GIB // 8)}, "less than 256 MiB free"),
        ({"mountpoint": "legacy"}, ""),
    ],
)
def test_nothing_is_written_where_that_cannot_be(
    machine: Place, tmp_path: Path, changes: dict[str, str], said: str
) -> None:
    folder = pool(machine, tmp_path / "tank", **changes)
    answer = machine.run(plan())
    assert answer.samples == []
    assert list(folder.iterdir()) == []
    assert said in " ".join(_dataset.problems(answer.datasets[0], PLAIN))


def test_a_machine_without_zfs_says_so(machine: Place) -> None:
    answer = machine.run(plan())
    assert answer.samples == []
    assert "zfs is not there" in " ".join(_dataset.problems(answer.datasets[0], PLAIN))


@pytest.mark.parametrize(
    ("changes", "setting", "said"),
    [
        ({"encryption": "off"}, PLAIN, "is not encrypted"),
        ({}, _dataset.UNENCRYPTED, "is encrypted too"),
        ({"sync": "always"}, PLAIN, "sync=always"),
    ],
)
def test_what_a_figure_does_not_mean_is_told(
    machine: Place, tmp_path: Path, changes: dict[str, str], setting: str, said: str
) -> None:
    pool(machine, tmp_path / "tank", **changes)
    answer = machine.run(plan(setting=setting))
    assert {one.setting for one in answer.samples} == {setting}
    assert said in " ".join(_dataset.problems(answer.datasets[0], setting))


def test_who_stops_it_finds_the_dataset_as_it_was(machine: Place, tmp_path: Path) -> None:
    folder = pool(machine, tmp_path / "tank")
    machine.has(
        "dd", f'/bin/dd "$@"\ncase "$*" in *fsync*) touch {tmp_path}/now; exec sleep 999; esac'
    )
    with machine.start(plan()) as process:
        deadline = time.monotonic() + SOON
        while not (tmp_path / "now").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert len(list(folder.iterdir())) == 1
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=SOON) == 0
    assert list(folder.iterdir()) == []


def test_a_write_that_fails_is_told(machine: Place, tmp_path: Path) -> None:
    folder = pool(machine, tmp_path / "tank")
    machine.has("dd", "echo \"dd: error writing 'x': No space left on device\" >&2; exit 1")
    answer = machine.run(plan(mebibytes=64))
    assert [one.ended for one in answer.samples] == [Ended.FAILED]
    assert list(folder.iterdir()) == []
