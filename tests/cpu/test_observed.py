"""What a guest says of its own CPU, and what its silence proves."""

from __future__ import annotations

import pytest

from unmask.cpu.features import canonical, unlisted
from unmask.cpu.levels import LEVELS
from unmask.cpu.observed import cleared, contradicted, filled, view, with_hidden
from unmask.model.cpu import Accelerator, HostCpu, State

V2 = LEVELS[2]
KVM = Accelerator.KVM


def cpu(*flags: str, arch: str = "x86_64", complete: bool = True) -> HostCpu:
    return HostCpu(arch, V2 | set(flags), "GenuineIntel", complete=complete)


def test_what_is_listed_is_shown_and_what_is_not_is_hidden() -> None:
    seen = view(cpu("aes"), KVM, "kvm64", model="kvm64")
    assert seen.shows("aes", "ssse3")
    assert seen.hides("pclmulqdq")
    assert (seen.label, seen.model, seen.vendor) == ("kvm64", "kvm64", "GenuineIntel")
    assert (seen.level, seen.level_certain) == (2, True)


@pytest.mark.parametrize("flag", ["spec-ctrl", "amd-ssbd", "sha512", "osxsave"])
def test_a_flag_that_linux_has_no_word_for_may_be_there(flag: str) -> None:
    assert view(cpu(), KVM, "kvm64").state(flag) is State.UNKNOWN


def test_freebsd_has_words_of_its_own() -> None:
    seen = view(cpu(), KVM, "kvm64", kernel="FreeBSD")
    assert seen.hides("aes")
    assert seen.hides("rdctl-no")  # RDCL_NO, which Linux does not list
    assert seen.state("constant_tsc") is State.UNKNOWN
    assert "constant_tsc" not in unlisted("Linux")
    assert not unlisted("FreeBSD") & {canonical("AESNI"), canonical("PCLMULQDQ"), "ssse3"}


def test_an_incomplete_list_proves_nothing_by_its_silence() -> None:
    seen = view(cpu("aes", complete=False), KVM, "windows")
    assert seen.shows("aes")
    assert seen.state("pclmulqdq") is State.UNKNOWN
    assert (seen.level, seen.level_certain) == (2, False)
    nothing = view(HostCpu("x86_64", frozenset({"aes"}), complete=False), KVM, "windows")
    assert (nothing.level, nothing.level_certain) == (None, False)


def test_on_arm_there_is_no_level() -> None:
    seen = view(HostCpu("aarch64", frozenset({"aes", "pmull"})), KVM, "host")
    assert (seen.level, seen.level_certain) == (None, False)
    assert seen.shows("pmull")
    assert seen.hides("sha2")


@pytest.mark.parametrize(
    ("parameters", "flags"),
    [
        (("clearcpuid=129",), "pclmulqdq"),
        (("clearcpuid=129,153", "mitigations=off"), "pclmulqdq aes"),
        (("clearcpuid=aes,pclmulqdq",), "aes pclmulqdq"),
        (("clearcpuid=297",), "erms"),
        (("clearcpuid=514,99999", "clearcpuid="), "umip"),
        (("modprobe.blacklist=aesni_intel",), ""),
        ((), ""),
    ],
)
def test_what_a_kernel_was_told_to_leave_out(parameters: tuple[str, ...], flags: str) -> None:
    assert cleared(parameters) == set(flags.split())


def test_what_hangs_on_a_flag_is_left_out_with_it() -> None:
    hidden = cleared(("clearcpuid=avx512vl",))
    assert hidden == {"avx512vl", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg"}


@pytest.mark.parametrize("flag", ["xsave", "avx"])
def test_registers_that_the_kernel_does_not_turn_on_are_gone_for_programs_too(flag: str) -> None:
    assert cleared((f"clearcpuid={flag},vaes,avx512vl,aes",)) == {"aes"}
    assert cleared((f"clearcpuid={flag}",)) == frozenset()


def test_a_long_command_line_is_bounded() -> None:
    assert len(cleared((f"clearcpuid={','.join(['129'] * 100_000)}",))) == 1


def test_programs_see_what_the_kernel_leaves_out_as_far_as_the_configuration_tells() -> None:
    seen = view(cpu(), KVM, "mine")
    resolved = view(cpu("aes", "pclmulqdq"), KVM, "mine")
    both = with_hidden(seen, ["aes", "pclmulqdq"], resolved)
    assert both.shows("aes", "pclmulqdq")
    assert seen.hides("aes")
    assert both.steps[-1].endswith("its list: aes, pclmulqdq")


def test_programs_see_what_nobody_knows() -> None:
    seen = view(cpu("aes"), KVM, "mine")
    unknown = view(cpu(complete=False), KVM, "mine")
    some = with_hidden(seen, ["aes", "pclmulqdq"], unknown)
    assert some.shows("aes")  # it is listed all the same
    assert some.state("pclmulqdq") is State.UNKNOWN
    assert not some.level_certain
    assert with_hidden(seen, ["aes"], unknown) is seen


def test_the_level_counts_what_the_kernel_leaves_out() -> None:
    seen = view(HostCpu("x86_64", V2 - {"ssse3"}), KVM, "mine")
    whole = with_hidden(seen, ["ssse3"], view(cpu(), KVM, "mine"))
    assert (seen.level, whole.level, whole.level_certain) == (1, 2, True)


def test_what_windows_does_not_tell_is_what_its_configuration_says() -> None:
    resolved = view(cpu("aes"), KVM, "mine")
    told = view(HostCpu("x86_64", frozenset({"avx"}), complete=False), KVM, "mine")
    seen = filled(told, resolved)
    assert seen.shows("avx", "aes", "ssse3")
    assert seen.hides("pclmulqdq")
    assert (seen.level, seen.rest) == (2, State.HIDDEN)


def test_a_list_beats_the_configuration_and_its_silence_does_not() -> None:
    resolved = view(cpu("aes", "spec-ctrl"), KVM, "mine")
    seen = filled(view(cpu(), KVM, "mine"), resolved)
    assert seen.hides("aes")
    assert seen.shows("spec-ctrl")


def test_a_view_of_another_architecture_fills_nothing() -> None:
    told = view(HostCpu("aarch64", frozenset({"aes"})), KVM, "mine")
    assert filled(told, view(cpu(), KVM, "mine")) is told


@pytest.mark.parametrize(
    ("told", "configured", "expected"),
    [
        ("aarch64", "x86_64", True),
        ("x86_64", "aarch64", True),
        ("i686", "x86_64", False),
        ("armv7l", "aarch64", False),
        ("s390x", "s390x", False),
        ("", "x86_64", False),
        ("x86_64", "", False),
    ],
)
def test_an_architecture_that_a_guest_cannot_have(
    told: str,
    configured: str,
    expected: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert contradicted(told, configured) is expected
