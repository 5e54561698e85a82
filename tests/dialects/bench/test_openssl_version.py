"""What a library says of itself, in `version` and above the figures of `speed`."""

import pytest

from unmask.dialects.bench import openssl_version
from unmask.model.inside_programs import OpenSsl


@pytest.mark.parametrize(
    ("text", "version", "release"),
    [
        ("OpenSSL 3.0.2 15 Mar 2022 (Library: OpenSSL 3.0.2 15 Mar 2022)", "3.0.2", (3, 0, 2)),
        ("OpenSSL 1.0.1e-fips 11 Feb 2013", "1.0.1e-fips", (1, 0, 1)),
        ("OpenSSL 1.1.1e-dev  xx XXX xxxx", "1.1.1e-dev", (1, 1, 1)),
        ("OpenSSL 0.9.8zc 15 Oct 2014", "0.9.8zc", (0, 9, 8)),
        ("version: 3.5.9\nbuilt on: Sat Oct  3 2026", "3.5.9", (3, 5, 9)),
        ("OpenSSL (version 1.0.2g, built on 1 Mar 2016)", "1.0.2g", (1, 0, 2)),
        ("OpenSSL 3.3.1, built on 4 Jun 2024 (Library: OpenSSL 3.3.1)", "3.3.1", (3, 3, 1)),
    ],
)
def test_every_form_of_a_version(text: str, version: str, release: tuple[int, ...]) -> None:
    assert openssl_version.version(text) == OpenSsl(version=f"OpenSSL {version}")
    assert openssl_version.build(text).release == release


def test_libressl_counts_otherwise() -> None:
    text = "LibreSSL 3.8.2\nbuilt on: date not available\noptions:bn(64,64) rc4(16x,int)\n"
    assert openssl_version.version(text).version == "LibreSSL 3.8.2"
    assert openssl_version.build(text).release == ()


def test_capabilities_and_the_mask_that_changed_them() -> None:
    text = (
        "version: 3.0.20\noptions: bn(64,64)\n"
        "CPUINFO: OPENSSL_ia32cap=0x80002001078bfffd:0x0 env:~0x200000200000000\n"
    )
    assert openssl_version.version(text).capabilities == "0x80002001078bfffd:0x0"
    build = openssl_version.build(text)
    assert (build.architecture, build.mask) == ("ia32", "~0x200000200000000")
    assert openssl_version.build("CPUINFO: OPENSSL_armcap=0xbd\n").architecture == "arm"
    five = "CPUINFO: OPENSSL_ia32cap=0x1:0x2:0x3:0x4:0x5\n"
    assert openssl_version.version(five).capabilities == "0x1:0x2:0x3:0x4:0x5"


def test_the_rest_of_version_a() -> None:
    text = (
        "OpenSSL 3.0.20 7 Apr 2026 (Library: OpenSSL 3.0.20 7 Apr 2026)\n"
        "built on: Sat Jun  6 19:56:20 2026 UTC\nplatform: debian-amd64\noptions:  bn(64,64)\n"
        "compiler: gcc -fPIC -DOPENSSL_PIC -DNDEBUG\n"
    )
    build = openssl_version.build(text)
    assert build.released == "7 Apr 2026"
    assert build.built == "Sat Jun  6 19:56:20 2026 UTC"
    assert (build.platform, build.word, build.assembly) == ("debian-amd64", 64, None)


@pytest.mark.parametrize(
    ("compiler", "assembly"),
    [
        ("gcc -DAES_ASM -DVPAES_ASM -DAESNI_ASM -DGHASH_ASM", True),
        ("cc -DSHA1_ASM -DSHA256_ASM -DMD5_ASM -DAES_ASM", False),
        ("gcc -m32 -march=i686 -DOPENSSL_THREADS", None),
        ("information not available", None),
    ],
)
def test_whether_aes_ni_code_is_built_in(compiler: str, assembly: object) -> None:
    assert openssl_version.build(f"compiler: {compiler}\n").assembly is assembly


def test_a_32_bit_build() -> None:
    assert openssl_version.build("options:bn(64,32) md2(int) rc4(8x,mmx)\n").word == 32


@pytest.mark.parametrize("text", ["", "hello", "\x00\x1b[31m", "OpenSSL", "version: x"])
def test_nothing_is_known_of_other_text(text: str) -> None:
    assert openssl_version.version(text) == OpenSsl()
    assert openssl_version.build(text) == openssl_version.Build()
