"""The QEMUs that tests move guests between: real ones, and copies whose emulation lacks features.

QEMU has no option that takes features from its emulation. What that implements stands in one table
of the program (`feature_word_info` of target/i386/cpu.c, the field `tcg_features`); `restricted`
writes a copy of the program in which some bits of that table are zero. Such a QEMU filters and
refuses guests' CPUs by its own code.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support import peers

UNPACKED = Path.home() / ".cache/unmask/qemu"
"""Where tools/qemu_versions.sh unpacks QEMU of other Debian releases."""
DATA = ("/usr/share/qemu", "/usr/share/seabios")
MODULES = Path("/usr/lib/x86_64-linux-gnu/qemu")

TABLE_ENTRY = struct.Struct("<IIII")
"""A CPUID leaf, whether it has subleaves, the subleaf, and the register: 0 A, 1 C, 2 D, 3 B."""
STRIDE = 568
"""From one entry to the next: a type, 64 names, the register, and four masks of 64 bits."""
LEAF_1_D = (1, 0, 0, 2)
LEAF_1_C = (1, 0, 0, 1)
LEAF_7_B = (7, 1, 0, 3)
LEAF_D1_A = (0xD, 1, 1, 0)
LEAF_8_C = (0x80000001, 0, 0, 1)
LEAF_8_D = (0x80000001, 0, 0, 2)
BITS = {
    "pclmulqdq": (LEAF_1_C, 1), "fma": (LEAF_1_C, 12), "movbe": (LEAF_1_C, 22),
    "aes": (LEAF_1_C, 25), "avx": (LEAF_1_C, 28), "f16c": (LEAF_1_C, 29),
    "rdrand": (LEAF_1_C, 30), "bmi1": (LEAF_7_B, 3), "avx2": (LEAF_7_B, 5), "bmi2": (LEAF_7_B, 8),
    "clwb": (LEAF_7_B, 24), "xsaveopt": (LEAF_D1_A, 0), "xgetbv1": (LEAF_D1_A, 2),
    "abm": (LEAF_8_C, 5), "sse4a": (LEAF_8_C, 6), "mmxext": (LEAF_8_D, 22),
}  # fmt: skip
"""The bits of CPUID by Linux's word (Intel SDM, volume 2, CPUID; AMD APM, volume 3)."""


@dataclass(frozen=True, slots=True)
class Program:
    """A qemu-system-x86_64 that can be started."""

    version: str
    """"7.2.22"."""
    command: tuple[str, ...]
    data: tuple[str, ...] = DATA
    modules: str = str(MODULES)

    def start(self, said: Path, *options: str) -> subprocess.Popen[bytes]:
        """Start it emulating, without devices; what it has to say goes into the file `said`."""
        words = [word for folder in self.data for word in ("-L", folder)]
        fixed = ["-accel", "tcg", "-m", "32", "-nodefaults", "-display", "none", "-no-user-config"]
        with said.open("wb") as stream:
            return subprocess.Popen(
                [*self.command, *words, *fixed, *options],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env={**os.environ, "LC_ALL": "C", "QEMU_MODULE_DIR": self.modules},
            )

    def machines(self) -> frozenset[str]:
        """Return the machine types that it knows."""
        said = peers.run([*self.command, "-machine", "help"]).stdout
        return frozenset(line.split()[0] for line in said.splitlines()[1:])


def installed() -> Program:
    """Return the system's own."""
    path = peers.program("qemu-system-x86_64")
    return Program(_version((path,)), (path,))


def unpacked() -> list[Program]:
    """Return those of other releases that were unpacked, each with its own C library."""
    found = []
    for libraries in sorted(UNPACKED.glob("*/usr/lib/x86_64-linux-gnu")):
        root = libraries.parents[2]
        loader = next(libraries.glob("ld-linux*"))
        path = root / "usr/bin/qemu-system-x86_64"
        command = (str(loader), "--library-path", str(libraries), str(path))
        data = tuple(f"{root}{folder}" for folder in DATA)
        found.append(Program(_version(command), command, data, str(libraries / "qemu")))
    return found


def _version(command: Sequence[str]) -> str:
    match = re.search(r"version (\d+\.\d+\.\d+)", peers.run([*command, "--version"]).stdout)
    assert match, command
    return match[1]


def restricted(program: Program, flags: frozenset[str], path: Path) -> Program:
    """Return a copy of a QEMU whose emulation has none of `flags`, Linux's words, at `path`."""
    (binary,) = program.command
    image = bytearray(Path(binary).read_bytes())
    offset = _table(image)
    for flag in flags:
        entry, bit = BITS[flag]
        place = _entry(image, offset, entry) + TABLE_ENTRY.size
        (mask,) = struct.unpack_from("<Q", image, place)
        assert mask >> bit & 1, f"the emulation never had {flag}"
        struct.pack_into("<Q", image, place, mask & ~(1 << bit))
    path.write_bytes(image)
    path.chmod(0o755)
    return Program(program.version, (str(path),))


def _table(image: bytes | bytearray) -> int:
    """Return where the table of features begins: its first two words are those of leaf 1."""
    first, second = TABLE_ENTRY.pack(*LEAF_1_D), TABLE_ENTRY.pack(*LEAF_1_C)
    found = [
        match.start()
        for match in re.finditer(re.escape(first), image)
        if image[match.start() + STRIDE :][: len(second)] == second
    ]
    if len(found) != 1:
        peers.missing("a QEMU whose table of features is where Debian's has it")
    return found[0]


def _entry(image: bytearray, offset: int, wanted: tuple[int, ...]) -> int:
    for place in range(offset, offset + 40 * STRIDE, STRIDE):
        if TABLE_ENTRY.unpack_from(image, place) == wanted:
            return place
    raise AssertionError(f"no CPUID leaf {wanted} in the table")
