"""What can be done inside a guest whose hypervisor cannot be changed, as text to be put there.

Nothing is written: a snippet is shown, and the operator decides. An override is offered only where
the forced run has worked on this very machine, ChaCha20 only where it was faster here, and PadLock
only where its engine was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from unmask.crypto import ia32cap
from unmask.measure import _ciphers, _units
from unmask.measure._figures import Answer, Figures
from unmask.measure._words import rate, times
from unmask.measure.statistics import series
from unmask.model.bench import PADLOCK, PLAIN, BenchResult, Cause, Diagnosis, Tool
from unmask.model.inside import System
from unmask.model.reading import Known

CHACHA = "chacha20-poly1305"
WORTH = 1.2
"""ChaCha20-Poly1305 against AES-GCM, from which it is worth a change of configuration."""
ENGINE_FASTER = 2.0
_HELPED = frozenset({Cause.HIDDEN, Cause.PARTIAL})

DIES = (
    "After a move to a host without AES-NI the service dies with an illegal instruction (SIGILL) "
    "as soon as it encrypts. Remove this before such a move, and once the CPU type shows aes and "
    "pclmulqdq. OpenSSL uses neither AVX nor SHA instructions under it: ChaCha20 and hashes become "
    "slower where the guest shows those."
)
CLIENTS = (
    "Clients with AES-NI then do ChaCha20 as well, which is slower for them than AES. Remove this "
    "once the CPU type shows aes and pclmulqdq."
)
ENGINES = (
    "OpenSSL 4.0 has no engines any more, and in most of 1.1.1 PadLock's was broken: measure with "
    "`openssl speed -engine padlock -evp aes-256-cbc` first."
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """Some lines for one file of a guest."""

    title: str
    """What it does, without full stop."""
    path: str
    """Where it belongs; "" where it is only to be known."""
    text: str
    """The lines, each ending with a line break."""
    warning: str = ""
    """What may go wrong, in sentences."""


def snippets(
    result: BenchResult, diagnosis: Diagnosis, services: Collection[str] = ()
) -> tuple[Snippet, ...]:
    """Return what helps inside this guest, the most effective first; () where nothing does.

    Args:
        result: Its benchmark.
        diagnosis: What `diagnose` made of it.
        services: Programs found there, as their configuration or the kernel names them: "nginx",
            "apache2", "haproxy".
    """
    names = tuple(dict.fromkeys(_units.canonical(name) for name in services))
    system = result.environment.system
    where = system.value if isinstance(system, Known) else System("Linux")
    found = [*_padlock(result, names, where)]
    forced = _forced(result) if diagnosis.cause in _HELPED else ""
    if forced:
        found += _overrides(result, names, where)
    found += _chacha(result, names, where)
    if forced:
        found.append(_reach(names))
    return tuple(found)


def _forced(result: BenchResult) -> str:
    """Return by how much forcing helped, in words; "" where it did not work or did not help."""
    figures = Figures(result)
    names = (*figures.gcm, *figures.other)
    if figures.illegal(names) or Answer.YES not in (figures.forced_gcm(), figures.forced_aes()):
        return ""
    best = max(figures.ratios(names, "forced", PLAIN), key=lambda ratio: ratio.value)
    return f"{best.upper.algorithm} {times(best.value)} as fast"


def _overrides(result: BenchResult, names: tuple[str, ...], where: System) -> Iterator[Snippet]:
    value = ia32cap.FORCED
    helped = _forced(result)
    for name in names:
        unit = _units.unit(name, where)
        if not unit:
            continue
        title = f"Make OpenSSL in {name} use AES-NI ({helped} here)"
        if where.kernel_name == "FreeBSD":
            text = f'{unit}_env="OPENSSL_ia32cap={value}"\n'
            yield Snippet(title, "/etc/rc.conf", text, DIES)
            continue
        text = (
            f"# systemctl daemon-reload && systemctl restart {unit}\n"
            "[Service]\n"
            f"Environment=OPENSSL_ia32cap={value}\n"
        )
        path = f"/etc/systemd/system/{unit}.service.d/openssl-aes.conf"
        yield Snippet(title, path, text, DIES)
    if not any(_units.unit(name, where) for name in names):
        text = f"OPENSSL_ia32cap={value}\n"
        yield Snippet(f"Make OpenSSL use AES-NI ({helped} here)", "", text, DIES)


def _chacha(result: BenchResult, names: tuple[str, ...], where: System) -> Iterator[Snippet]:
    figures = Figures(result)
    chacha = figures.get(CHACHA)
    gcm = figures.get("aes-128-gcm") or figures.get("aes-256-gcm")
    if not chacha or not gcm or chacha.per_second < gcm.per_second * WORTH:
        return
    faster = f"{rate(chacha.per_second)} against {rate(gcm.per_second)} of {gcm.algorithm}"
    for name in names:
        lines = _ciphers.lines(name, where)
        if lines:
            title = f"Let {name} prefer ChaCha20-Poly1305 ({faster} here)"
            yield Snippet(title, lines.path, lines.text, f"{lines.warning} {CLIENTS}".strip())


def _padlock(result: BenchResult, names: tuple[str, ...], where: System) -> Iterator[Snippet]:
    every = series(one for one in result.samples if one.tool is Tool.OPENSSL)
    by = {(one.algorithm, one.setting): one for one in every if one.rate}
    gains = [
        one.per_second / by[name, PLAIN].per_second
        for (name, setting), one in by.items()
        if setting == PADLOCK and (name, PLAIN) in by
    ]
    if not gains or max(gains) < ENGINE_FASTER:
        return
    title = f"Make OpenSSL use PadLock ({times(max(gains))} as fast here)"
    yield Snippet(title, _ciphers.openssl_cnf(where), _ciphers.PADLOCK, ENGINES)
    if "apache" in names:
        lines = _ciphers.apache_path(where)
        text = "SSLCryptoDevice padlock\n"
        yield Snippet("Make Apache use PadLock, in place of openssl.cnf", lines, text, ENGINES)


def _reach(names: tuple[str, ...]) -> Snippet:
    lines = [
        "The kernel: LUKS, IPsec, WireGuard's and NFS's encryption, kTLS.",
        "OpenZFS, which looks at the CPU itself.",
        "Go (Caddy, Traefik, restic, kopia), Java, Rust with ring, GnuTLS, NSS.",
        "Programs that are started in another way than the one whose environment was changed.",
    ]
    lines += [f"{name} here: {why}." for name in names if (why := _units.unreached(name))]
    return Snippet("What the override does not reach", "", "".join(f"{line}\n" for line in lines))
