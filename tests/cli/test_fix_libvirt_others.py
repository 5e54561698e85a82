"""`unmask fix` on a real libvirtd: what else a domain has stays, and is told to nobody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.domain_xml import Cpu, document
from support.libvirtd import PREFIX, Libvirtd
from support.unmask_command import Answer

Command = Callable[..., Answer]
NAME = f"{PREFIX}full"
CPU = """<cpu mode='custom' match='exact' check='none'>
    <model fallback='allow' vendor_id='HasAnApos&apos;12'>Nehalem</model>
    <topology sockets='1' dies='1' cores='1' threads='1'/>
    <feature policy='disable' name='pcid'/>
    <numa><cell id='0' cpus='0' memory='196608' unit='KiB'/></numa>
  </cpu>"""
BESIDE = """<metadata>
    <other:cpu xmlns:other='http://example.org/other'><cpu mode='host-model'/></other:cpu>
  </metadata>
  <description>&lt;cpu mode='custom'/&gt; ]]&gt; "quoted"</description>
  <cputune><shares>512</shares></cputune>
  <devices><graphics type='vnc' port='-1' autoport='yes' passwd='S3cret'/>"""
ARGUMENTS = """<qemu:commandline>
    <qemu:arg value='-fw_cfg'/><qemu:arg value='name=opt/org.example/key,string=S3cret'/>
  </qemu:commandline>
</domain>"""


def defined(libvirtd: Libvirtd) -> str:
    text = document(NAME, Cpu(CPU)).replace("<devices>", BESIDE).replace("</domain>", ARGUMENTS)
    libvirtd.define(text)
    return xml(libvirtd)


def xml(libvirtd: Libvirtd) -> str:
    return libvirtd.virsh("dumpxml", "--inactive", "--security-info", NAME)


def without_cpu(text: str) -> str:
    start, end = text.index("\n  <cpu "), text.index("\n  </cpu>")
    return text[:start] + text[end:]


def fix(command: Command, libvirtd: Libvirtd, cpu: str, *words: str) -> Answer:
    return command("fix", libvirtd.uri, "--vm", NAME, "--no-probe", "--cpu", cpu, *words)


def test_all_else_stays_and_no_secret_is_told(
    command: Command, empty_libvirtd: Libvirtd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = defined(empty_libvirtd)
    told = []
    plans = (("Westmere", "--diff"), ("Westmere", "--dry-run", "--format", "json"))
    told += [fix(command, empty_libvirtd, *words) for words in plans]
    answer = fix(
        command, empty_libvirtd, "Westmere", "--yes", "--format", "json",
        *("--ack", "RST004,RST010,CPU002,SEC001"),
    )  # fmt: skip
    assert answer.code == 0, answer.output + answer.errors
    after = xml(empty_libvirtd)
    assert without_cpu(after) == without_cpu(before)
    assert "Westmere</model>" in after
    for kept in ("vendor_id=", "<topology ", "name='pcid'", "<numa>"):
        assert kept in after
    run = answer.report["run_id"]
    told += [answer, command("history", run), command("history", "--format", "json")]
    told.append(command("undo", run))
    assert xml(empty_libvirtd) == before
    journals = [path.read_text() for path in (tmp_path / "state/unmask/runs").iterdir()]
    assert len(journals) == 2
    for text in (*journals, *(item.output + item.errors for item in told)):
        assert "S3cret" not in text


def test_a_cpu_on_the_command_line_of_qemu_stops_it(
    command: Command, empty_libvirtd: Libvirtd
) -> None:
    empty_libvirtd.define(document(NAME, Cpu(CPU, option="host")))
    before = xml(empty_libvirtd)
    answer = fix(command, empty_libvirtd, "Westmere", "--ack", "RST005", "--yes")
    assert answer.code == 2
    assert "The -cpu in <qemu:commandline> decides" in " ".join(answer.output.split())
    assert xml(empty_libvirtd) == before
