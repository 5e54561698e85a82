"""CPU descriptions as kernels print them."""

from pathlib import Path

import pytest

from unmask.dialects import cpuinfo
from unmask.errors import InputError

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

TWO_PROCESSORS = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 207
model name\t: Intel(R)  Xeon(R) Gold 6430
stepping\t: 2
microcode\t: 0x2b000603
flags\t\t: fpu lm cx8 aes pclmulqdq avx rtm
vmx flags\t: vnmi preemption_timer
bugs\t\t: spectre_v1 mds

processor\t: 1
vendor_id\t: GenuineIntel
flags\t\t: fpu lm cx8 aes pclmulqdq avx
"""

FREEBSD = """\
CPU: Common KVM processor (2194.92-MHz K8-class CPU)
  Origin="GenuineIntel"  Id=0xf61  Family=0xf  Model=0x6  Stepping=1
  Features=0x783fbfd<FPU,DE,PSE,TSC,MSR,PAE,MCE,CX8,APIC,SEP,CMOV,MMX,FXSR,SSE,SSE2>
  Features2=0x82a82201<SSE3,SSSE3,CX16,SSE4.1,SSE4.2,x2APIC,POPCNT,AESNI,HV>
  AMD Features=0x20100800<SYSCALL,NX,LM>
  AMD Features2=0x1<LAHF>
  Structured Extended Features=0x20<AVX2>
"""


def test_flags_are_those_of_every_processor() -> None:
    cpu = cpuinfo.parse(TWO_PROCESSORS)
    assert cpu.flags == {"fpu", "lm", "cx8", "aes", "pclmulqdq", "avx"}
    assert (cpu.family, cpu.model, cpu.stepping) == (6, 207, 2)
    assert cpu.model_name == "Intel(R) Xeon(R) Gold 6430"
    assert cpu.microcode == "0x2b000603"
    assert cpu.bugs == {"spectre_v1", "mds"}
    assert cpu.arch == "x86_64"


def test_flags_of_vmx_are_not_flags_of_the_cpu() -> None:
    assert "vnmi" not in cpuinfo.parse(TWO_PROCESSORS).flags


def test_wrapped_lines_are_joined() -> None:
    text = "vendor_id\t: CentaurHauls\nflags\t\t: fpu cx8 lm sse2\n  ace ace_en\n  aes pclmulqdq\n"
    assert cpuinfo.parse(text).flags >= {"ace", "ace_en", "aes", "pclmulqdq"}


def test_a_32_bit_cpu_is_not_x86_64() -> None:
    assert cpuinfo.parse("vendor_id : CentaurHauls\nflags : fpu cx8 ace ace_en\n").arch == "i686"


def test_lscpu_of_an_arm_guest() -> None:
    text = (
        "Architecture:        aarch64\nVendor ID:           ARM\nModel name:          Neoverse-N1\n"
        "Stepping:            r3p1\nFlags:               fp asimd aes pmull sha1 sha2\n"
    )
    cpu = cpuinfo.parse(text)
    assert (cpu.arch, cpu.vendor, cpu.model_name) == ("aarch64", "ARM", "Neoverse-N1")
    assert cpu.flags >= {"aes", "pmull"}
    assert cpu.stepping is None


def test_cpuinfo_of_an_arm_machine_names_its_implementer() -> None:
    cpu = cpuinfo.parse("Features\t: fp asimd aes pmull\nCPU implementer\t: 0x61\n")
    assert (cpu.arch, cpu.vendor) == ("aarch64", "Apple")


def test_flags_that_are_not_printed_leave_the_description_incomplete() -> None:
    cpu = cpuinfo.parse("Architecture: aarch64\nHypervisor vendor: horizontal\n")
    assert not cpu.complete
    assert not cpu.flags


def test_mainframes_and_power_are_named_for_what_they_are() -> None:
    text = "vendor_id       : IBM/S390\nfeatures\t: esan3 zarch stfle msa\n"
    assert cpuinfo.parse(text).arch == "s390x"
    assert cpuinfo.parse("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n").arch == "ppc64"


def test_freebsd_names_become_ours() -> None:
    cpu = cpuinfo.parse(FREEBSD)
    assert cpu.flags >= {"aes", "pni", "ssse3", "sse4_1", "sse4_2", "avx2", "lm", "lahf_lm"}
    assert "pclmulqdq" not in cpu.flags
    assert (cpu.arch, cpu.vendor, cpu.family, cpu.model) == ("x86_64", "GenuineIntel", 15, 6)


def test_freebsd_10_puts_blanks_around_its_equal_signs() -> None:
    text = FREEBSD.replace("=0", " = 0").replace('="', ' = "').replace("Stepping=", "Stepping = ")
    assert cpuinfo.parse(text).flags == cpuinfo.parse(FREEBSD).flags
    assert cpuinfo.parse(text).vendor == "GenuineIntel"


def test_an_attached_aesni_proves_aes_and_sse4_1_and_no_more() -> None:
    cpu = cpuinfo.parse("cryptosoft0: <software crypto>\naesni0: <AES-CBC,AES-GCM,AES-XTS>\n")
    assert cpu.flags == {"aes", "sse4_1"}
    assert not cpu.complete


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "\x00\x01\x02", "a: b\n"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a CPU description"):
        cpuinfo.parse(text)


def test_endless_text_is_refused() -> None:
    with pytest.raises(InputError, match="8 MiB"):
        cpuinfo.parse("x" * (cpuinfo.LIMIT + 1))


CORPUS_ANSWERS = {
    # file: (architecture, flags it has, flags it lacks); see manifest.tsv for the reasons
    "cpu-001": ("x86_64", "lm", "aes pclmulqdq ssse3 sse4_2 popcnt"),
    "cpu-002": ("x86_64", "lm", "aes pclmulqdq lahf_lm"),
    "cpu-003": ("x86_64", "lm", "aes pclmulqdq"),
    "cpu-005": ("x86_64", "aes pclmulqdq avx2 movbe", "svm"),
    "cpu-006": ("x86_64", "aes pclmulqdq avx2 svm", "vaes"),
    "cpu-008": ("x86_64", "aes pclmulqdq avx md_clear flush_l1d vmx", "avx2"),
    "cpu-010": ("x86_64", "aes pclmulqdq avx", "md_clear vmx"),
    "cpu-011": ("x86_64", "aes pclmulqdq ace ace_en", "invvpid"),
    "cpu-012": ("i686", "ace", "aes lm"),
    "cpu-013": ("i686", "ace", "aes lm"),
    "cpu-015": ("x86_64", "pclmulqdq", "aes"),
    "cpu-016": ("x86_64", "aes pclmulqdq", ""),
    "cpu-017": ("x86_64", "ssse3", "aes pclmulqdq"),
    "cpu-019": ("x86_64", "aes", "pclmulqdq"),
    "cpu-020": ("aarch64", "aes pmull sha1 sha2", "pclmulqdq"),
    "cpu-021": ("aarch64", "aes pmull sha1 sha2", "pclmulqdq"),
    "cpu-022": ("aarch64", "", "hypervisor"),
    "cpu-023": ("aarch64", "aes pmull", "pclmulqdq"),
}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not part of the project")
@pytest.mark.parametrize("case", CORPUS_ANSWERS)
def test_corpus(case: str) -> None:
    (path,) = CORPUS.glob(f"{case}-*.txt")
    arch, has, lacks = CORPUS_ANSWERS[case]
    cpu = cpuinfo.parse(path.read_text(encoding="utf-8"))
    assert cpu.arch == arch
    assert cpu.flags >= set(has.split())
    assert not cpu.flags & set(lacks.split())


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not part of the project")
def test_every_cpu_case_of_the_corpus_has_an_answer() -> None:
    assert {path.name[:7] for path in CORPUS.glob("cpu-*.txt")} == set(CORPUS_ANSWERS)
