"""`unmask doctor` of this machine, under conditions as they are found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from support import peers
from support.doctor_command import SCHEMA, Doctor, doctor_of, only, told
from support.unmask_command import Answer, unmask
from unmask.fixes.journal import Journal
from unmask.model.run import RunKind

from .conftest import Command


@pytest.fixture
def doctor(command: Command) -> Doctor:
    return doctor_of(command)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_machine_without_anything_has_no_problem(doctor: Doctor) -> None:
    answer = doctor()
    assert answer.report["problems"] == 0
    subjects = {item["subject"] for item in answer.report["checks"]}
    assert {"python", "unmask", "paramiko", "libvirt-python", "journal"} <= subjects
    assert "configuration: there is none" in only(answer, "Configuration", "note")


def test_the_table_says_the_same(command: Command, tmp_path: Path) -> None:
    (tmp_path / "unmask.toml").write_text("[targets.x]\nadress = 'pve://x'\n")
    answer = command("doctor")
    assert (answer.code, answer.errors) == (1, "")
    lines = answer.output.splitlines()
    place = next(index for index, line in enumerate(lines) if line.startswith("  problem  "))
    assert "unknown key 'adress'" in " ".join(" ".join(lines[place : place + 5]).split())
    assert any(line.strip().startswith("-> correct it") for line in lines[place:])
    assert lines[-1].startswith("1 problem; ")
    assert all(len(line) <= 100 or len(line.split()) == 1 for line in lines)  # a path is whole


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[targets", "not a TOML file"),
        (b"\xff\xfe", "not a TOML file"),
        (b'[targets.a]\naddress = "pve://a"\ntoken = "root@pam!x=hunter2"\n', "no secret may"),
    ],
)
def test_a_broken_configuration(doctor: Doctor, tmp_path: Path, text: bytes, said: str) -> None:
    (tmp_path / "unmask.toml").write_bytes(text)
    answer = doctor()
    assert said in only(answer, "Configuration")
    assert "hunter2" not in answer.output


def test_a_configuration_that_others_can_write(doctor: Doctor, tmp_path: Path) -> None:
    path = tmp_path / "unmask.toml"
    path.write_text('[targets.copy]\naddress = "nowhere"\ntoken_file = "token"\n')
    path.chmod(0o666)
    assert "everybody can write to it" in only(doctor(), "Configuration")
    path.chmod(0o620)
    answer = doctor()
    assert "chmod g-w" in only(answer, "Configuration", "note")
    assert "No such file or directory" in only(answer, "Configuration")
    (tmp_path / "token").write_text("hunter2")
    (tmp_path / "token").chmod(0o644)
    answer = doctor()
    notes = told(answer, "Configuration", "note")
    assert {"chmod g-w", "chmod 600"} == {" ".join(item["todo"].split()[:2]) for item in notes}
    assert "hunter2" not in answer.output


def test_the_journal(doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    assert "is not there yet" in only(doctor(), "Journal of changes", "ok")
    with Journal(state / "unmask").begin(RunKind.FIX):
        pass
    assert "1 run, all settled" in only(doctor(), "Journal of changes", "ok")
    (state / "unmask").chmod(0o755)
    assert "chmod 700" in only(doctor(), "Journal of changes")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert "set XDG_STATE_HOME to a directory" in only(doctor(), "Journal of changes")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    assert "neither XDG_STATE_HOME nor HOME is set" in only(doctor(), "Journal of changes")


@pytest.mark.peer
def test_a_journal_that_cannot_be_written(tmp_path: Path) -> None:
    """Root may write everywhere, so root gives up the right to; its children cannot get it back."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    through: tuple[str, ...] = ()
    if os.geteuid() == 0:
        os.chown(theirs, 65534, 65534)
        through = (peers.program("setpriv"), "--bounding-set=-dac_override,-dac_read_search")
    theirs.chmod(0o755 if through else 0o500)
    words = ("doctor", "--format", "json")
    answer = unmask(*words, through=through, directory=tmp_path, XDG_STATE_HOME=str(theirs))
    said = only(answer, "Journal of changes")
    assert f"{theirs}/unmask cannot be written ({theirs})" in said
    assert answer.code == 1


def test_a_run_that_was_not_finished(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fixes.test_journal import written  # noqa: PLC0415 - a helper of the journal's tests
    from unmask.model.change import Phase  # noqa: PLC0415

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    written(Journal(tmp_path / "unmask"), Phase.WRITING)
    said = only(doctor(), "Journal of changes")
    assert "what became of one guest" in said
    assert "`unmask recover`" in said


BLOCKED = """
import sys
class No:
    def find_spec(self, name, path=None, target=None):
        if name == "libvirt":
            raise ImportError("libvirt.so.0: cannot open shared object file")
sys.meta_path.insert(0, No())
from importlib import metadata
if sys.argv[1] == "gone":
    real = metadata.version
    def version(name):
        if name == "libvirt-python":
            raise metadata.PackageNotFoundError(name)
        return real(name)
    metadata.version = version
from unmask.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("how", ["gone", "broken"])
def test_no_libvirt_binding(tmp_path: Path, how: str) -> None:
    def run(*words: str) -> Answer:
        done = subprocess.run(
            [sys.executable, "-c", BLOCKED, how, "doctor", "--format", "json", *words],
            cwd=tmp_path,
            env=peers.environment(HOME=str(tmp_path)),
            capture_output=True,
            text=True,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    without, asked = run(), run("qemu:///system")
    status = {"gone": "note", "broken": "problem"}[how]
    said = only(without, "Python packages", status)
    assert "apt install libvirt-dev " in said
    assert f"{sys.executable} -m pip install libvirt-python" in said
    assert ("cannot open shared object" in said) is (how == "broken")
    assert without.code == (0 if how == "gone" else 1)
    assert "libvirt-python" in only(asked, "Python packages")
    assert "libvirt-python" in only(asked, "Targets")
    assert asked.code == 1
