"""One target that is reached by SSH or by libvirt, or that is a file."""

from __future__ import annotations

from collections.abc import Iterator

from unmask import plugins
from unmask.checks._check import Surroundings, note, ok, problem
from unmask.config import targets
from unmask.config.settings import Target
from unmask.connect import libvirt, ssh, ssh_address
from unmask.connect.libvirt import Connection
from unmask.connect.proxmox_address import SSH_SCHEME
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Login
from unmask.errors import MissingPackageError, TargetError, UnmaskError
from unmask.model.checkup import Remark
from unmask.model.source import CollectOptions, Source
from unmask.sources import libvirt as libvirt_source
from unmask.sources import ssh_guest

SSH_MORE = "docs/ssh.md says how unmask logs in; `ssh -v` shows the same from OpenSSH's side"


def look(
    subject: str, target: Target, options: CollectOptions, around: Surroundings
) -> Iterator[Remark]:
    """Yield remarks on a target, as far as one gets."""
    address = target.address
    try:
        if address.lower().startswith(SSH_SCHEME):
            yield _node(subject, address, options)
        elif ssh_guest.fits(address):
            with ssh_guest.enter(address, options, around.seconds) as machine:
                yield _logged_in(subject, machine.session.login.user)
        elif libvirt_source.fits(address):
            yield libvirt.within(address, options, lambda opened: _opened(subject, opened))
        else:
            source = targets.source_for(address, plugins.load("unmask.sources", "SOURCE", Source))
            yield ok(subject, f"is there, and is read as: {source.summary}")
    except MissingPackageError as error:
        yield problem(subject, str(error), "see Python packages above")
    except TargetError as error:
        by_ssh = address.lower().startswith((SSH_SCHEME, ssh_address.SCHEME))
        yield problem(subject, str(error), SSH_MORE if by_ssh else _more(address))
    except UnmaskError as error:
        yield problem(subject, str(error), "unmask audit --help says what a target can be")


def _more(address: str) -> str:
    if libvirt_source.fits(address):
        return f"see whether `virsh -c {address} list` works for this user"
    return "unmask audit --help says what a target can be"


def _node(subject: str, target: str, options: CollectOptions) -> Remark:
    address = ssh_address.of_target(target, SSH_SCHEME)
    password = options.ssh.password
    secrets = Secrets(password.reveal() if password else "", None)
    with ssh.connect(address, options.ssh, secrets, options.timeout, like=Login("root")) as session:
        return _logged_in(subject, session.login.user)


def _logged_in(subject: str, user: str) -> Remark:
    return ok(subject, f"its SSH host key is known, and it lets {user} in")


def _opened(subject: str, connection: Connection) -> Remark:
    said = f"{connection.software().hypervisor} answers as {connection.hostname()}"
    if connection.read_only:
        what = f"{said}, with a read-only connection: some facts will be unknown"
        return note(subject, what, "join the group libvirt there, or connect as root")
    return ok(subject, said)
