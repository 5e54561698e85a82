"""Before and after: the figures of the field, and what they may be put down to."""

from dataclasses import replace

import pytest

from support.benches import environment, result, samples
from unmask.measure.compare import UNENCRYPTED, Change, Credit, Limits, compare, link_limit
from unmask.model.bench import PADLOCK, PLAIN, BenchResult, Environment, Sample, Tool
from unmask.model.cpu import Accelerator
from unmask.model.inside import Resources, System
from unmask.model.inside_programs import OpenSsl
from unmask.model.reading import Known

WITHOUT = environment("ssse3 hypervisor")
WITH = environment("ssse3 aes pclmulqdq hypervisor")


def one(tool: Tool, algorithm: str, rate: float, where: Environment | None = None) -> BenchResult:
    """Return a benchmark with one figure, in MB/s."""
    runs = samples({algorithm: {PLAIN: rate}}, tool)
    return replace(result({}, where), samples=runs)


def change(
    tool: Tool, algorithm: str, old: float, new: float, limits: Limits | None = None
) -> Change:
    """Return what became of one figure when AES-NI was shown."""
    [found] = compare(one(tool, algorithm, old, WITHOUT), one(tool, algorithm, new, WITH), limits)
    return found


class TestHeadlines:
    def test_openssl_in_cycles_a_byte(self) -> None:
        before = one(Tool.OPENSSL, "aes-256-gcm", 310, WITHOUT)
        after = one(Tool.OPENSSL, "aes-256-gcm", 4850, WITH)
        [found] = compare(before, after, hertz=3.4e9)
        assert found.credit is Credit.CPU
        assert found.ratio == pytest.approx(15.6, abs=0.05)
        assert found.cycles == pytest.approx((11.0, 0.7), abs=0.05)
        assert "310 MB/s before, 4850 MB/s after (15.6 times)" in found.sentence
        assert "11.0 cycles a byte before, 0.7 after" in found.sentence

    def test_encrypted_zfs_writes_are_the_cpus(self) -> None:
        found = change(Tool.ZFS, "write", 110, 866)
        assert found.credit is Credit.CPU
        assert "(7.9 times)" in found.sentence

    def test_nfs_reads_end_at_the_link(self) -> None:
        found = change(Tool.FILE, "read", 42, 1200, Limits(link=link_limit(10)))
        assert found.credit is Credit.LINK
        assert "1250 MB/s: not credited to the CPU" in found.sentence

    def test_requests(self) -> None:
        found = change(Tool.TLS, "requests", 25.70e-6, 48.44e-6)
        assert found.credit is Credit.CPU
        assert "25.70 requests/s before, 48.44 requests/s after (1.9 times)" in found.sentence


class TestCredit:
    def test_a_link_that_was_measured_counts(self) -> None:
        link = Sample(Tool.NETWORK, "link", rate=1.17e9)
        before = one(Tool.FILE, "read", 42, WITHOUT)
        after = one(Tool.FILE, "read", 1150, WITH)
        found = compare(before, replace(after, samples=(*after.samples, link)))
        assert [each.credit for each in found] == [Credit.LINK]

    def test_the_unencrypted_dataset_is_the_disks_limit(self) -> None:
        after = one(Tool.ZFS, "write", 866, WITH)
        beside = samples({"write": {UNENCRYPTED: 900}}, Tool.ZFS)
        after = replace(after, samples=(*after.samples, *beside))
        [found] = compare(one(Tool.ZFS, "write", 110, WITHOUT), after)
        assert found.credit is Credit.DISK

    def test_synchronous_writes_wait_for_the_pool(self) -> None:
        after = one(Tool.ZFS, "write", 300, WITH)
        after = replace(after, problems=("tank/x has sync=always: each write waits.",))
        [found] = compare(one(Tool.ZFS, "write", 110, WITHOUT), after)
        assert found.credit is Credit.DISK
        assert "sync=always" in found.sentence

    def test_more_than_the_disk_does_is_memory(self) -> None:
        found = change(Tool.ZFS, "read", 110, 5000, Limits(disk=900e6))
        assert found.credit is Credit.CACHE

    def test_a_link_is_no_limit_for_openssl(self) -> None:
        found = change(Tool.OPENSSL, "aes-256-gcm", 310, 1200, Limits(link=link_limit(10)))
        assert found.credit is Credit.CPU

    def test_plain_files_are_not_put_down_to_the_cpu(self) -> None:
        assert change(Tool.FILE, "read", 42, 500).credit is Credit.OTHER

    def test_the_same_flags_did_not_do_it(self) -> None:
        before, after = (one(Tool.OPENSSL, "aes-256-gcm", rate, WITH) for rate in (1000, 3000))
        [found] = compare(before, after)
        assert found.credit is Credit.OTHER
        assert "same flags" in found.sentence

    def test_unknown_flags_leave_a_doubt(self) -> None:
        before, after = (one(Tool.OPENSSL, "aes-256-gcm", rate) for rate in (310, 4850))
        [found] = compare(before, after)
        assert found.credit is Credit.CPU
        assert "if nothing else was changed" in found.sentence

    def test_noise(self) -> None:
        assert change(Tool.OPENSSL, "aes-256-gcm", 1000, 1080).credit is Credit.NONE
        runs = samples({"aes-256-gcm": {PLAIN: [700, 1000, 1300]}})
        before = replace(one(Tool.OPENSSL, "x", 1, WITHOUT), samples=runs)
        [found] = compare(before, one(Tool.OPENSSL, "aes-256-gcm", 1250, WITH))
        assert found.credit is Credit.NONE

    def test_slower(self) -> None:
        found = change(Tool.OPENSSL, "chacha20-poly1305", 1000, 500)
        assert found.credit is Credit.OTHER
        assert "slower" in found.sentence


class TestNotComparable:
    def check(self, before: BenchResult, after: BenchResult, words: str) -> None:
        [found] = compare(before, after)
        assert found.credit is Credit.NOT_COMPARABLE
        assert found.ratio is None
        assert words in found.sentence

    def pair(self, tool: Tool, algorithm: str = "aes-256-gcm") -> tuple[BenchResult, BenchResult]:
        return one(tool, algorithm, 310, WITHOUT), one(tool, algorithm, 4850, WITH)

    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("method", "thorough", "the method differs (quick before, thorough after)"),
            ("subject", "another", "the machine differs"),
            ("host", "pve2", "the node differs (pve1 before, pve2 after)"),
        ],
    )
    def test_the_benchmark(self, field: str, value: str, words: str) -> None:
        before, after = self.pair(Tool.OPENSSL)
        before = replace(before, host="pve1")
        self.check(before, replace(after, **{field: value}), words)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("tool", "changes", "words"),
        [
            (Tool.OPENSSL, {"openssl": Known(OpenSsl("OpenSSL 3.5.9"))}, "3.0.20 before"),
            (Tool.OPENSSL, {"override": "OPENSSL_ia32cap=~0x2"}, "a variable"),
            (Tool.OPENSSL, {"pinned": True}, "one processor"),
            (Tool.CRYPTSETUP, {"system": Known(System("Linux", "6.12.0"))}, "the kernel differs"),
            (Tool.TLS, {"resources": Known(Resources(8, 2_000_000))}, "number of processors"),
            (Tool.ZFS, {"resources": Known(Resources(2, 9_000_000))}, "the memory"),
        ],
    )
    def test_the_environment(self, tool: Tool, changes: dict[str, object], words: str) -> None:
        before, after = self.pair(tool)
        where = replace(after.environment, **changes)  # type: ignore[arg-type]
        self.check(before, replace(after, environment=where), words)

    def test_emulation_that_ended_is_no_gain_of_a_flag(self) -> None:
        before, after = self.pair(Tool.OPENSSL)
        runs = (Accelerator.TCG, Accelerator.KVM)
        before, after = (
            replace(each, environment=replace(each.environment, accelerator=run))
            for each, run in zip((before, after), runs, strict=True)
        )
        self.check(before, after, "what runs it differs (tcg before, kvm after)")

    def test_blocks_and_interfaces(self) -> None:
        before, after = self.pair(Tool.OPENSSL)
        [run] = after.samples
        for field, value, words in (
            ("block", 8192, "blocks of 16384 bytes before and 8192 after"),
            ("evp", False, "interface"),
            ("engine", PADLOCK, "the engine"),
            ("processes", 4, "at once"),
        ):
            other = replace(run, **{field: value})  # type: ignore[arg-type]
            self.check(before, replace(after, samples=(other,)), words)

    def test_what_one_of_them_lacks(self) -> None:
        before, after = self.pair(Tool.OPENSSL)
        found = compare(before, replace(after, samples=()))
        assert "not measured after" in found[0].sentence
        assert found[0].before == 310e6

    def test_pasted_files_need_no_common_name(self) -> None:
        before, after = self.pair(Tool.OPENSSL)
        pasted = replace(before, subject="old.txt", method="pasted")
        [found] = compare(pasted, replace(after, subject="new.txt", method="pasted"))
        assert found.credit is Credit.CPU

    def test_more_processors_do_not_matter_to_openssl(self) -> None:
        before, after = self.pair(Tool.OPENSSL)
        where = replace(after.environment, resources=Known(Resources(8, 9_000_000)))
        [found] = compare(before, replace(after, environment=where))
        assert found.credit is Credit.CPU


def test_what_another_program_asked_is_not_compared() -> None:
    before = replace(one(Tool.TLS, "requests", 25, WITHOUT), way="ab on this machine")
    after = replace(one(Tool.TLS, "requests", 48, WITH), way="openssl on this machine")
    [found] = compare(before, after)
    assert found.credit is Credit.NOT_COMPARABLE
    assert "what asked differs" in found.sentence
    assert compare(before, replace(after, way=before.way))[0].credit is not Credit.NOT_COMPARABLE


def test_a_rate_of_nothing_is_no_figure() -> None:
    before = one(Tool.OPENSSL, "aes-256-gcm", 0)
    [found] = compare(before, one(Tool.OPENSSL, "aes-256-gcm", 100))
    assert "it gave no figure before" in found.sentence
