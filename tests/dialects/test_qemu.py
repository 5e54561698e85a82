"""`-cpu` as QEMU reads it, and `args:` as Proxmox splits it."""

from __future__ import annotations

import pytest

from support import peers
from unmask.dialects import qemu
from unmask.model.cpu import Mode, Origin, RemarkKind


@pytest.mark.parametrize(
    ("text", "on", "off"),
    [
        ("qemu64,+aes", {"aes"}, set()),
        ("qemu64,aes", {"aes"}, set()),
        ("qemu64,aes=on,avx=off", {"aes"}, {"avx"}),
        ("qemu64,aes=yes,avx=FALSE", {"aes"}, {"avx"}),
        ("qemu64,-aes,+aes", set(), {"aes"}),
        ("qemu64,+aes,aes=off", {"aes"}, set()),
        ("qemu64,-aes,aes=on", set(), {"aes"}),
        ("qemu64,aes=off,aes=on", {"aes"}, set()),
        ("qemu64,,+sse4.1,,+sse4_2,", {"sse4_1", "sse4_2"}, set()),
        ("qemu64,+pclmuldq,+lahf-lm", {"pclmulqdq", "lahf_lm"}, set()),
        ("kvm64,+spec-ctrl", {"spec-ctrl", "ibrs", "ibpb"}, set()),
    ],
)
def test_a_minus_wins_over_a_plus_and_both_over_a_value(
    text: str, on: set[str], off: set[str]
) -> None:
    cpu = qemu.parse_cpu(text)
    assert (set(cpu.on), set(cpu.off), cpu.unknown) == (on, off, ())


def test_settings_are_no_flags() -> None:
    cpu = qemu.parse_cpu("EPYC,enforce,vendor=AuthenticAMD,hv_time,kvm=off,+kvm_pv_eoi,level=0xd")
    assert (cpu.model, cpu.on, cpu.off, cpu.enforce) == ("EPYC", frozenset(), frozenset(), True)
    assert cpu.properties == (
        ("hv-time", "on"),
        ("kvm", "off"),
        ("kvm-pv-eoi", "on"),
        ("level", "0xd"),
        ("vendor", "AuthenticAMD"),
    )


def test_enforce_can_be_switched_off() -> None:
    assert not qemu.parse_cpu("EPYC,enforce=off").enforce


def test_names_that_no_qemu_has_are_said() -> None:
    assert qemu.parse_cpu("qemu64,+aes,+aesni,-nonsense").unknown == ("+aesni", "-nonsense")
    spec = qemu.spec_of("qemu64,+aesni", Origin.ARGS)
    assert "+aesni" in spec.remarked(RemarkKind.UNRESOLVED)[0].text


@pytest.mark.parametrize(
    ("text", "mode", "model"),
    [
        ("host,+invtsc", Mode.HOST, ""),
        ("max", Mode.MAXIMUM, ""),
        ("Haswell-noTSX", Mode.MODEL, "Haswell-noTSX"),
        ("Haswell-v2", Mode.MODEL, "Haswell-v2"),
        ("haswell", Mode.UNKNOWN, ""),
        ("HOST", Mode.UNKNOWN, ""),
        ("", Mode.UNKNOWN, ""),
        (",+aes", Mode.UNKNOWN, ""),
        ("x86-64-v2-AES", Mode.UNKNOWN, ""),
    ],
)
def test_the_first_word_is_the_model(text: str, mode: Mode, model: str) -> None:
    spec = qemu.spec_of(text, Origin.LIVE)
    assert (spec.mode, spec.model) == (mode, model)
    assert bool(spec.remarked(RemarkKind.UNRESOLVED)) is (mode is Mode.UNKNOWN)
    assert spec.written == text


def test_a_label_of_the_operator_is_kept() -> None:
    spec = qemu.spec_of("qemu64,+aes,enforce", Origin.CONFIG, "x86-64-v2-AES")
    assert (spec.label, spec.model, spec.enforced) == ("x86-64-v2-AES", "qemu64", True)


def test_models_of_other_architectures_are_not_looked_up_among_those_of_x86() -> None:
    spec = qemu.spec_of("cortex-a72", Origin.ARGS, arch="aarch64")
    assert (spec.mode, spec.model, spec.remarks) == (Mode.MODEL, "cortex-a72", ())


def test_a_huge_name_is_cut_where_it_is_quoted() -> None:
    spec = qemu.spec_of("x" * 100_000 + ",+" + "y" * 100_000, Origin.ARGS)
    assert all(len(remark.text) < 500 for remark in spec.remarks)
    assert len(spec.label) < 200


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ("-cpu host", "host"),
        ("--cpu host", "host"),
        ("-cpu kvm64 -cpu host,-hypervisor", "host,-hypervisor"),
        ("-smp 4,cores=4", None),
        ("", None),
        ("-cpu 'Haswell,+aes,kvm=off'", "Haswell,+aes,kvm=off"),
        ('-cpu "Haswell,model-id=a b"', "Haswell,model-id=a b"),
        (r"-cpu host,model-id=a\ b", "host,model-id=a b"),
        ("-cpu host,'+aes'", "host,+aes"),
        ("-device x,id=-cpu", None),
        ("-cpu=host", "host"),
        ("-cpu", None),
        ("-cpu host -cpu", "host"),
        ("-cpu 'host", None),
        ("-cpu host\\", None),
    ],
)
def test_the_last_cpu_of_args_counts(args: str, value: str | None) -> None:
    assert qemu.cpu_option(qemu.argument_list(args)) == value


@pytest.mark.parametrize(
    ("args", "refused"),
    [
        (["-cpu", "host"], ""),
        ([], ""),
        (["-cpu=host"], "-cpu=host"),
        (["--cpu=host", "-cpu", "kvm64"], "--cpu=host"),
        (["-smp", "4", "-cpu"], "-cpu"),
        (["-cpu host,-aes"], "-cpu host,-aes"),
    ],
)
def test_what_qemu_refuses_is_told(args: list[str], refused: str) -> None:
    assert qemu.refused_option(args) == refused


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("  a  b\tc ", ["a", "b", "c"]),
        ("a'b c'd", ["ab cd"]),
        ("'' \"\"", ["", ""]),
        (r"'a\'b' c", [r"a\'b", "c"]),
        (r'"a\"b" c', ['a"b', "c"]),
        (r"a\"b", ['a"b']),
        ("it's broken", []),
        ("ends with \\", []),
    ],
)
def test_args_are_split_as_shellwords_does(args: str, words: list[str]) -> None:
    assert qemu.argument_list(args) == words


@pytest.mark.peer
def test_perl_splits_args_in_the_same_way() -> None:
    perl = peers.program("perl")
    pieces = ("-cpu", "host", " ", "  ", "\t", '"', "'", "\\", "a", ",", "=")
    lines = ["".join(pieces[(seed * 7 + step * step * 13 + seed // (step + 1)) % len(pieces)]
                     for step in range(seed % 11 + 1)) for seed in range(1500)]  # fmt: skip
    script = (
        "use Text::ParseWords; while (<STDIN>) { chomp;"
        " print join(chr(1), $_ ? shellwords($_) : ()), qq{\\n}; }"
    )
    said = peers.run([perl, "-e", script], stdin="\n".join(lines) + "\n").stdout
    assert [chr(1).join(qemu.argument_list(line)) for line in lines] == said.split("\n")[:-1]


@pytest.mark.peer
@pytest.mark.parametrize("word", ["-cpu=max", "--cpu=max"])
def test_qemu_takes_the_value_from_the_next_argument_only(word: str) -> None:
    binary = peers.program("qemu-system-x86_64")
    done = peers.run([binary, "-machine", "none", "-display", "none", word], check=False)
    assert done.returncode != 0
    assert "invalid option" in done.stderr
