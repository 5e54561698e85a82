"""Runs of `openssl speed` that died, were refused, or never began."""

from pathlib import Path

import pytest

from unmask.dialects.bench import openssl_speed
from unmask.model.bench import FORCED, Ended, Sample

RECORDED = Path(__file__).parents[3] / "fixtures" / "bench" / "recorded"
BEGUN = "Doing AES-256-GCM for 3s on 16 size blocks: "
MR_BEGUN = "+DT:AES-256-GCM:3:16\n"


def only(text: str, status: int | None = None, algorithm: str = "") -> Sample:
    (sample,) = openssl_speed.parse(text, FORCED, status, algorithm)
    return sample


@pytest.mark.parametrize("status", [132, -4, 260, 0xC000001D, 0xC000001D - 2**32])
@pytest.mark.parametrize("text", [BEGUN, MR_BEGUN])
def test_an_illegal_instruction_by_its_status(text: str, status: int) -> None:
    sample = only(text, status)
    assert (sample.algorithm, sample.setting) == ("aes-256-gcm", FORCED)
    assert (sample.ended, sample.rate) == (Ended.ILLEGAL, None)
    assert "SIGILL" in sample.note


@pytest.mark.parametrize(
    "words",
    [
        "Illegal instruction",
        "Illegal instruction (core dumped)",
        "Illegal instruction(coredump)",
        "\nbash: line 1:  2623 Illegal instruction     openssl speed -evp aes-256-gcm",
        "\nzsh: illegal hardware instruction  openssl speed -evp aes-256-gcm",
        "\nUngültiger Maschinenbefehl (Speicherabzug geschrieben)",
        "\nInstruction non permise",
        "\n[  12.3] traps: openssl[81] trap invalid opcode ip:7f sp:7f error:0 in libcrypto.so.3",
    ],
)
def test_an_illegal_instruction_by_what_is_printed(words: str) -> None:
    sample = only(BEGUN + words)
    assert (sample.algorithm, sample.ended, sample.rate) == ("aes-256-gcm", Ended.ILLEGAL, None)


@pytest.mark.parametrize("name", ["qemu64-forced", "qemu64-mr_forced", "bash-forced"])
def test_recorded_illegal_instructions(name: str) -> None:
    text = (RECORDED / f"{name}.err").read_text(encoding="utf-8")
    sample = only(text, 132)
    assert (sample.algorithm, sample.ended) == ("aes-128-gcm", Ended.ILLEGAL)


def test_a_death_before_the_first_line_has_the_name_that_was_asked_for() -> None:
    sample = only("", 132, "AES-256-GCM")
    assert (sample.algorithm, sample.ended) == ("aes-256-gcm", Ended.ILLEGAL)
    assert only("Illegal instruction\n", None, "aes-256-gcm").ended is Ended.ILLEGAL


def test_what_was_measured_before_a_death_stays() -> None:
    text = "Doing aes-128-cbc for 3s on 8192 size blocks: 60000 aes-128-cbc's in 3.00s\n" + BEGUN
    first, second = openssl_speed.parse(text, status=132)
    assert (first.algorithm, first.rate) == ("aes-128-cbc", 163_840_000.0)
    assert (second.algorithm, second.ended, second.rate) == ("aes-256-gcm", Ended.ILLEGAL, None)


def test_another_programs_death_is_not_openssls() -> None:
    line = "Doing AES-256-GCM for 3s on 8192 size blocks: 60000 AES-256-GCM's in 3.00s\n"
    for text in (
        f"miner: Illegal instruction (core dumped)\n# openssl speed -evp aes-256-gcm\n{line}",
        f"{line}mongod: Illegal instruction (core dumped)\n",
    ):
        sample = only(text)
        assert (sample.ended, sample.rate) == (Ended.WELL, 163_840_000.0)


@pytest.mark.parametrize(
    ("text", "status", "ended", "words"),
    [
        (BEGUN, 139, Ended.KILLED, "SIGSEGV"),
        (BEGUN, -9, Ended.KILLED, "SIGKILL"),
        (BEGUN, 137, Ended.KILLED, "SIGKILL"),
        (BEGUN, 124, Ended.LATE, "within its time"),
        (BEGUN + "\nSegmentation fault (core dumped)\n", None, Ended.KILLED, "Segmentation fault"),
        (BEGUN + "\nKilled\n", 1, Ended.KILLED, "Killed"),
        (BEGUN, 1, Ended.FAILED, "status 1"),
    ],
)
def test_other_deaths_are_told_apart(text: str, status: int, ended: Ended, words: str) -> None:
    sample = only(text, status)
    assert (sample.algorithm, sample.ended, sample.rate) == ("aes-256-gcm", ended, None)
    assert words in sample.note


def test_a_count_that_was_never_printed_is_no_figure() -> None:
    sample = only(BEGUN)
    assert (sample.ended, sample.rate) == (Ended.INVALID, None)
    assert "no whole figure" in sample.note


@pytest.mark.parametrize(
    ("text", "algorithm"),
    [
        ("speed: aes-256-gcmx is an unknown cipher or digest\n4067:error:0308\n", "aes-256-gcmx"),
        ("chacha20-poly1305 is an unknown cipher or digest\n", "chacha20-poly1305"),
        ("speed: Unknown algorithm nonsense\n", "nonsense"),
        ("AES-128-CBC is not an AEAD cipher\n", "aes-128-cbc"),
        ("Error: bad option or value\n\nAvailable values:\nmd2      md4\n", "asked"),
        ("speed: Unknown option: -seconds\nspeed: Use -help for summary.\n", "asked"),
        ("speed: Option unknown option -seconds\n", "asked"),
        ("openssl:Error: 'speed' is an invalid command.\n", "asked"),
        ("Invalid command 'speed'; type \"help\" for a list.\n", "asked"),
        ("Error setting cipher AES-256-GCM\n", "asked"),
        (
            "Doing RC4 for 1s on 8192 size blocks: \nCouldn't init the context\n40F7:error:\n",
            "rc4",
        ),
    ],
)
def test_what_a_version_does_not_know(text: str, algorithm: str) -> None:
    sample = only(text, 1, "asked")
    assert (sample.ended, sample.rate) == (Ended.UNSUPPORTED, None)
    assert sample.algorithm == algorithm
    assert sample.note.startswith("this openssl")


@pytest.mark.parametrize(
    "text",
    [
        "sh: 1: openssl: not found\n",
        "bash: line 1: openssl: command not found\n",
        "-bash: openssl: command not found\n",
        "csh: openssl: Command not found.\n",
        "zsh:1: command not found: openssl\n",
        "env: 'openssl': No such file or directory\n",
        "timeout: failed to run command \u2018openssl\u2019: No such file or directory\n",
        "'openssl' is not recognized as an internal or external command,\noperable program\n",
    ],
)
@pytest.mark.parametrize("status", [127, 1, None])
def test_a_missing_openssl(text: str, status: int | None) -> None:
    sample = only(text, status, "aes-256-gcm")
    assert (sample.algorithm, sample.ended) == ("aes-256-gcm", Ended.FAILED)
    assert "openssl is not there" in sample.note


def test_an_openssl_that_does_not_start() -> None:
    text = "openssl: error while loading shared libraries: libssl.so.3: cannot open shared object\n"
    sample = only(text, 127)
    assert sample.ended is Ended.FAILED
    assert "could not be started" in sample.note


@pytest.mark.parametrize(
    ("text", "ended", "words"),
    [
        ("", Ended.FAILED, "printed nothing"),
        ("\n \n", Ended.FAILED, "printed nothing"),
        ("hello\nworld\n", Ended.INVALID, "not what `openssl speed` prints"),
        ("{}", Ended.INVALID, "not what `openssl speed` prints"),
    ],
)
def test_output_of_nobody(text: str, ended: Ended, words: str) -> None:
    sample = only(text, None, "aes-256-gcm")
    assert (sample.algorithm, sample.ended, sample.rate) == ("aes-256-gcm", ended, None)
    assert words in sample.note
