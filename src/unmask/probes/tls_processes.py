"""Which library does the cryptography of each listening program: /proc/PID/maps and executables."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.inside_programs import Library, TlsProcess
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import number, unique

# One line a program: pid, name, executable, then what was found. An executable is only searched
# where no library is mapped, for the marks that Go, rustls and static OpenSSL leave. They are
# large, and searched a second time only where there is a mark; Go's settles it. BusyBox's grep for
# fixed words sees nothing behind a zero byte.
COMMAND = r"""
[ -d proc/1 ] || exit 127
if has ss; then
    part processes
    sockets=$(PROC_ROOT=/proc ss -H -lntup | grep -o 'pid=[0-9]*' | cut -d = -f 2)
elif sockets=$(netstat -lntup); then
    part processes
    sockets=$(printf '%s\n' "$sockets" | sed -n 's|.* \([0-9][0-9]*\)/.*|\1|p')
else
    exit 126
fi
pids=$(printf '%s\n' "$sockets" | sort -n -u | head -n 200)
seen=' '
signs='Go buildinf:
rustls
BoringSSL
OpenSSL 1.1.1
OpenSSL 3.'
if printf 'a\0b\n' | grep -q -F -e b; then
    signed() {
        grep -q -F -e "$2" "proc/$1/exe"
    }
else
    signed() {
        tr '\0' '\n' <"proc/$1/exe" | grep -q -F -e "$2"
    }
fi
names='ssl|crypto|gnutls|nss3|ssl3|freebl|softokn|jvm|wolfssl|mbed|sodium'
for pid in $pids; do
    name=$(cat "proc/$pid/comm") || continue
    exe=$(readlink "proc/$pid/exe")
    case $seen in
        *" $name=$exe "*) continue ;;
    esac
    seen="$seen$name=$exe "
    libraries=$(
        sed -n -E "s#.*/(lib($names)[^/ ]*\.so[0-9.]*)( .*)?\$#\1#p" "proc/$pid/maps" |
            sort -u | tr '\n' ' '
    )
    if [ ! "$libraries" ] && [ "$exe" ] && signed "$pid" "$signs"; then
        for sign in Gobuildinf rustls BoringSSL OpenSSL1.1.1 OpenSSL3.; do
            case $sign in
                Go*) signed "$pid" 'Go buildinf:' ;;
                OpenSSL*) signed "$pid" "OpenSSL ${sign#OpenSSL}" ;;
                *) signed "$pid" "$sign" ;;
            esac || continue
            libraries="$libraries$sign! "
            if [ "$sign" = Gobuildinf ]; then
                break
            fi
        done
    fi
    printf '%s\t%s\t%s\t%s\n' "$pid" "$name" "$exe" "$libraries"
done
"""

_FILES = (
    (re.compile(r"lib(?:ssl3|nss3|freebl\w*|softokn3)\.so"), Library.NSS),
    (re.compile(r"lib(?:ssl|crypto)\.so\.(?:4[4-9]|5\d)"), Library.LIBRESSL),
    (re.compile(r"lib(?:ssl|crypto)[-.\w]*\.so"), Library.OPENSSL),
    (re.compile(r"libgnutls"), Library.GNUTLS),
    (re.compile(r"libjvm\.so"), Library.JAVA),
    (re.compile(r"libwolfssl"), Library.WOLFSSL),
    (re.compile(r"libmbed(?:tls|crypto)"), Library.MBEDTLS),
    (re.compile(r"libsodium"), Library.LIBSODIUM),
)
_SIGNS = {
    "Gobuildinf!": (Library.GO, "Go build information"),
    "rustls!": (Library.RUSTLS, "the word rustls in the executable"),
    "BoringSSL!": (Library.BORINGSSL, "the word BoringSSL in the executable"),
    "OpenSSL1.1.1!": (Library.OPENSSL, "OpenSSL 1.1.1 in the executable"),
    "OpenSSL3.!": (Library.OPENSSL, "OpenSSL 3 in the executable"),
}


def parse(section: Section) -> tuple[TlsProcess, ...]:
    """Return the listening programs, sorted by name, each once for its name and executable.

    Raises:
        InputError: The guest's /proc has no processes, or nothing tells which of them listen.
    """
    if section.status == 126:
        raise InputError("neither ss nor a netstat that names programs is in the guest")
    if "processes" not in section:
        raise InputError("the guest has no /proc with its processes")
    found: dict[tuple[str, str], TlsProcess] = {}
    for line in section.lines("processes"):
        fields = line.split("\t")
        pid = number(fields[0])
        if len(fields) < 3 or pid is None:
            continue
        process = _process(pid, fields[1], fields[2], fields[3].split() if fields[3:] else [])
        found.setdefault((process.name, process.executable), process)
    return tuple(found[key] for key in sorted(found))


def _process(pid: int, name: str, executable: str, marks: list[str]) -> TlsProcess:
    libraries, evidence = [], []
    for mark in marks[:40]:
        library, word = _SIGNS.get(mark) or (_library(mark), mark)
        if library:
            libraries.append(library)
            evidence.append(word)
    return TlsProcess(
        name=name,
        executable=executable.removesuffix(" (deleted)"),
        libraries=tuple(Library(item) for item in unique(libraries)),
        evidence=unique(evidence),
        pids=(pid,),
    )


def _library(file: str) -> Library | None:
    return next((library for pattern, library in _FILES if pattern.match(file)), None)


PROBE = Probe("tls_processes", COMMAND, parse, needs_root=True, seconds=15)
