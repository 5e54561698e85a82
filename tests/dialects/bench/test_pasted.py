"""Output of which nobody has said what printed it."""

from pathlib import Path

import pytest

from unmask.dialects.bench import pasted
from unmask.model.bench import MASKED, PLAIN, Ended, Tool
from unmask.model.inside_programs import OpenSsl
from unmask.model.reading import Known

FIXTURES = Path(__file__).parents[3] / "fixtures" / "bench"


@pytest.mark.parametrize(
    ("name", "tool", "algorithm"),
    [
        ("recorded/qemu64-plain.txt", Tool.OPENSSL, "aes-128-gcm"),
        ("recorded/qemu64-plain.err", Tool.OPENSSL, "aes-128-gcm"),
        ("recorded/qemu64-mr.txt", Tool.OPENSSL, "aes-128-gcm"),
        ("recorded/qemu64-forced.err", Tool.OPENSSL, "aes-128-gcm"),
        ("recorded/trixie-plain.err", Tool.OPENSSL, "aes-128-gcm"),
        ("recorded/cryptsetup-xts512.txt", Tool.CRYPTSETUP, "aes-xts-512-encrypt"),
        ("recorded/cryptsetup-refused.err", Tool.CRYPTSETUP, "aes-xts-512-encrypt"),
        ("recorded/fio-luks.json", Tool.FILE, "write"),
        ("headlines/zfs-write-before.txt", Tool.FILE, "write"),
        ("headlines/ab-before.txt", Tool.TLS, "requests"),
        ("headlines/link-10g.txt", Tool.NETWORK, "link"),
    ],
)
def test_the_program_is_known_by_its_output(name: str, tool: Tool, algorithm: str) -> None:
    sample = pasted.parse((FIXTURES / name).read_text(encoding="utf-8"))[0]
    assert (sample.tool, sample.algorithm) == (tool, algorithm)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("AES-256-GCM   1.00k 2.00k 3.00k 4.00k 50.00k 60.00k\n", Tool.OPENSSL),
        ("speed: Unknown algorithm nonsense\n", Tool.OPENSSL),
        ("sh: 1: openssl: not found\n", Tool.OPENSSL),
        ("40 connections in 31 real seconds, 0 bytes read per connection\n", Tool.TLS),
        ("aes-xts 512b 1889,6 MiB/s 1890,1 MiB/s\n", Tool.CRYPTSETUP),
        ("  WRITE: io=16384KB, aggrb=19481KB/s, minb=1KB/s, maxb=1KB/s, maxt=841msec\n", Tool.FILE),
        ("iperf3: error - unable to connect to server: Connection refused\n", Tool.NETWORK),
        ("dd: failed to open '/x': No such file or directory\n", Tool.FILE),
    ],
)
def test_a_line_is_enough(text: str, tool: Tool) -> None:
    assert pasted.parse(text)[0].tool is tool


@pytest.mark.parametrize(
    ("text", "words"), [("", "nothing in it"), ("# a letter\nDear Sir\n", "not the output of")]
)
def test_a_file_of_something_else(text: str, words: str) -> None:
    (sample,) = pasted.parse(text)
    assert (sample.ended, sample.rate) == (Ended.INVALID, None)
    assert words in sample.note


def test_files_of_several_settings_are_one_result() -> None:
    outputs = {
        PLAIN: (FIXTURES / "recorded/qemu64-plain.txt").read_text(encoding="utf-8"),
        MASKED: (FIXTURES / "recorded/qemu64-masked.txt").read_text(encoding="utf-8"),
    }
    result = pasted.result("plain.txt", outputs)
    assert (result.subject, result.method) == ("plain.txt", "pasted")
    assert [(item.setting, item.rate) for item in result.samples] == [
        (PLAIN, 23_898_910.0),
        (MASKED, 23_617_540.0),
    ]
    openssl = OpenSsl("OpenSSL 3.0.20", "0x80002001078bfffd:0x0")
    assert result.environment.openssl == Known(openssl)
    assert result.problems == ()


def test_what_is_no_figure_is_a_problem_of_the_result() -> None:
    result = pasted.result("x", {PLAIN: "type 16 bytes\nAES-128-GCM  645702.71k\n", MASKED: "?"})
    assert len(result.problems) == 2
    assert result.problems[0].startswith("aes-128-gcm (plain): only 16-byte blocks")
    assert not result.environment.openssl.known


def test_two_programs_in_one_session_are_both_read() -> None:
    names = ("recorded/qemu64-plain.txt", "recorded/cryptsetup-xts512.txt")
    text = "\n".join((FIXTURES / name).read_text(encoding="utf-8") for name in names)
    found = {sample.algorithm for sample in pasted.parse(text) if sample.rate}
    assert {"aes-128-gcm", "aes-xts-512-encrypt"} <= found
