"""The configuration file, beside what the oracle's cases hold."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import conf
from unmask.errors import InputError


def test_an_empty_file_has_no_options() -> None:
    assert conf.parse("") == conf.GuestConfig(conf.Section())


@pytest.mark.parametrize(
    "line",
    ["CPU: host", " cpu: host", "cpu = host", "cpu host", "\ufeffcpu: host", "- cpu: host"],
)
def test_a_line_that_only_looks_like_cpu_is_dropped_and_said(line: str) -> None:
    main = conf.parse(f"{line}\nmemory: 64\n").main
    assert main.values == {"memory": "64"}
    assert main.dropped == (conf.Dropped(1, "cpu", "host", "unable to parse config"),)


@pytest.mark.parametrize("line", ["cpuunits: 1024", "cpulimit: 2"])
def test_other_keys_that_begin_with_cpu_are_no_cpu(line: str) -> None:
    assert conf.parse(line).main.dropped == ()


def test_a_byte_order_mark_spoils_the_first_line_only() -> None:
    main = conf.parse("\ufeff#notes\ncpu: EPYC\n").main
    assert main.values == {"cpu": "EPYC"}
    assert main.dropped[0].line == 1


def test_comments_behind_values_are_parts_of_them() -> None:
    main = conf.parse("ostype: win10 # office\ncores: 8 # many\nname: office # PC\n").main
    assert main.values == {"ostype": "win10 # office"}
    assert main.commented == ("ostype",)
    assert [line.key for line in main.dropped] == ["cores", "name"]
    assert conf.without_comment("win10 # office # x") == "win10"
    assert conf.without_comment("a#b") == "a#b"


def test_a_second_section_of_a_name_replaces_the_first() -> None:
    found = conf.parse("[PENDING]\ncpu: EPYC\n[pending]\nkvm: 0\n[ab]\ncpu: max\n[ab]\n")
    assert found.pending is not None
    assert found.pending.values == {"kvm": "0"}
    assert found.snapshots == {"ab": conf.Section()}


def test_lines_end_with_a_line_feed_only() -> None:
    main = conf.parse("name: a\x0bcpu: host\u2028cpu: max\n").main
    assert "cpu" not in main.values


def test_keys_may_end_with_digits() -> None:
    assert conf.parse("scsi10: local:vm-1-disk-0,size=1G\n").main.values["scsi10"]


def test_a_line_without_an_end_counts() -> None:
    assert conf.parse("cpu: EPYC").main.values == {"cpu": "EPYC"}


@pytest.mark.parametrize(
    ("text", "said"), [("cpu: host\n\0", "binary"), ("#" * (conf.LIMIT + 1), "larger than")]
)
def test_what_is_no_configuration_is_an_error(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        conf.parse(text)


@pytest.mark.timeout(20)
def test_a_huge_line_takes_no_time() -> None:
    value = "kvm64,flags=" + "+aes;" * 100_000
    main = conf.parse(f"cpu: {value}\n").main
    assert main.dropped[0].reason.startswith("format error")
    assert conf.parse("cpu" + " " * 500_000 + "x\n").main.values == {}
    assert conf.parse("ostype: x" + " " * 500_000 + "x\n").main.commented == ()
    assert conf.parse("args:" + " " * 500_000).main.values == {"args": " "}
    assert conf.parse("ostype: " + " #" * 250_000).main.values["ostype"]
