"""One target by the API of Proxmox VE: name, port, certificate, clock, login."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from unmask.checks import _pve_login
from unmask.checks._check import Surroundings, note, ok, problem
from unmask.config import privileges
from unmask.config.settings import Target
from unmask.connect import proxmox_address, proxy, tls, tls_look, wire
from unmask.connect.proxmox_address import Address
from unmask.connect.tls_look import Shown
from unmask.connect.wire import UnreachableError
from unmask.dialects import certificate
from unmask.errors import InputError, UnmaskError, UnreadError
from unmask.model.access import Access, Trust
from unmask.model.checkup import Remark, Status

SOON = timedelta(days=14)
"""Before the end of a certificate that is worth a word."""
SKEW = 60.0
"""Seconds between two clocks that are worth a word."""
CHECK_MORE = "`unmask config check {}` says what every command needs, and how to grant it"


def look(
    subject: str, target: Target, access: Access | UnmaskError, around: Surroundings
) -> Iterator[Remark]:
    """Yield remarks on a target, as far as one gets.

    Args:
        subject: What it is called.
        target: The target.
        access: How to get in, or why nobody knows.
        around: What else there is.
    """
    address = proxmox_address.parse(target.address)
    trust = access.trust if isinstance(access, Access) else around.trust_for(target)
    if not proxy.towards(address.host):
        try:
            yield _reached(subject, address, around.seconds)
            shown = tls_look.look(address.host, address.port, trust, around.seconds)
        except UnreadError as error:
            yield _unreached(subject, address, error)
            return
        except UnmaskError as error:
            todo = "see whether pveproxy listens on this port: systemctl status pveproxy"
            yield problem(subject, str(error), todo)
            return
        yield from _certificate(subject, shown, trust)
        yield from _clock(subject, shown)
        if shown.refusal:
            return
    if isinstance(access, UnmaskError):
        yield problem(subject, str(access), "docs/proxmox.md says how to make a token")
    else:
        yield _login(subject, target, address, access, around.seconds)


def _reached(subject: str, address: Address, seconds: float) -> Remark:
    with wire.connected(address.host.strip("[]"), address.port, time.monotonic() + seconds, 1):
        return ok(subject, f"{address.place} can be reached")


def _unreached(subject: str, address: Address, error: UnreadError) -> Remark:
    what = f"{address.place}: {error}"
    if not isinstance(error, UnreachableError):
        todo = "see whether pveproxy runs there (systemctl status pveproxy), and on this port"
    elif "name" in str(error):
        todo = "see whether the name is spelled right and in the DNS or in /etc/hosts"
    else:
        todo = "see whether it is on, and whether a firewall or VPN stands between"
    return problem(subject, what, todo)


def _certificate(subject: str, shown: Shown, trust: Trust) -> Iterator[Remark]:
    seen = tls.spelt(shown.fingerprint)
    try:
        read = certificate.parse(shown.certificate)
    except InputError as error:
        yield problem(subject, str(error), "see what else listens on this port")
        return
    until = f"valid until {read.ends:%Y-%m-%d}"
    if shown.refusal:
        kind = "self-signed certificate" if read.self_signed else "certificate"
        yield problem(
            subject,
            f"its {kind} is not trusted: {shown.refusal}; SHA-256 {seen}, {until}",
            "compare that on the node (openssl x509 -noout -fingerprint -sha256 -in "
            f"/etc/pve/local/pve-ssl.pem), then add --fingerprint {seen}, or name the cluster's "
            "authority with --ca-file",
        )
        return
    if trust.insecure:
        todo = f'write fingerprint = "{seen}" instead of insecure = true'
        yield note(subject, f"its certificate is not verified (insecure), {until}", todo)
    else:
        how = "is the pinned one" if trust.fingerprints else "is vouched for by an authority"
        yield ok(subject, f"its certificate {how}, {until}")
    if read.ends - datetime.now(UTC) < SOON:
        yield note(
            subject,
            f"its certificate ends on {read.ends:%Y-%m-%d}",
            "renew it there (pvecm updatecerts); a pinned fingerprint changes with it",
        )


def _clock(subject: str, shown: Shown) -> Iterator[Remark]:
    ahead = shown.ahead
    if ahead is not None and abs(ahead) > SKEW:
        which = "ahead of" if ahead > 0 else "behind"
        what = f"its clock is {abs(ahead):.0f} s {which} this machine's: logins may fail"
        yield note(subject, what, "see whether both keep time: timedatectl")


def _login(
    subject: str, target: Target, address: Address, access: Access, seconds: float
) -> Remark:
    login = access.login
    more = CHECK_MORE.format(target.name or target.address)
    if login is None:
        return problem(subject, "there is no token or password for it", "see docs/proxmox.md")
    try:
        version, permissions = _pve_login.ask(address, login, access.trust, seconds)
    except UnmaskError as error:
        return problem(subject, f"{login.words}: {error}", more)
    said = f"{login.words} is accepted by Proxmox VE {version}"
    lacks = {
        purpose.name: privileges.lacking(purpose, permissions, version)
        for purpose in privileges.PURPOSES
    }
    missing = lacks[privileges.AUDIT.name]
    if missing:
        needs = ", ".join(f"{need.privilege} on {need.path}" for need in missing)
        return problem(subject, f"{said}, but an audit is not whole: it lacks {needs}", more)
    able = [name for name, needs in lacks.items() if not needs]
    if len(able) == len(lacks):
        return ok(subject, f"{said} and may do everything that unmask does")
    unable = ", ".join(name for name in lacks if name not in able)
    what = f"{said}: enough for {', '.join(able)}, not for {unable}"
    return Remark(Status.OK, subject, what, more)
