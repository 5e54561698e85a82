"""`unmask lab`: a cluster to try everything on, which nothing can be broken in."""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unmask.cli.terminal import put
from unmask.connect.missing_package import missing_package
from unmask.errors import TargetError, UsageError

if TYPE_CHECKING:
    from unmask.lab.lab import Lab

PORT = typer.Option("--port", min=0, max=65535, help="Where it listens; 0 for a free port.")
ADDRESS = typer.Option("--address", help="The address on which it listens.")
VERSION = typer.Option("--pve-version", help="Of Proxmox VE: 7.4, 8.4 or 9.2.")
FAULT = typer.Option(
    "--fault",
    metavar="KIND",
    help="A fault to show, KIND[=VALUE][@PART-OF-PATH]; may be given several times. Kinds: "
    "latency, 5xx, resets, truncated, html, 401-mid-run, node-down, no-quorum, slow-drip.",
)
READY_FILE = typer.Option(
    "--ready-file", metavar="FILE", help="Write address, CA and tokens as JSON once it serves."
)
SECONDS = typer.Option(
    "--for", metavar="SECONDS", min=0, max=31536000, help="End by itself after this time."
)
PACE = typer.Option(
    "--pace",
    min=0,
    max=1000,
    help="Lab seconds for each second that the real one takes for refused logins, tasks and so on.",
)


def run(
    *,
    port: Annotated[int, PORT] = 8006,
    address: Annotated[str, ADDRESS] = "127.0.0.1",
    version: Annotated[str, VERSION] = "9.2",
    fault: Annotated[list[str] | None, FAULT] = None,
    ready_file: Annotated[Path | None, READY_FILE] = None,
    seconds: Annotated[float | None, SECONDS] = None,
    pace: Annotated[float, PACE] = 0.05,
) -> None:
    """Start an emulated Proxmox VE cluster to try everything on. Ctrl-C ends it."""
    made = _class()(version=version, faults=fault or (), address=address, port=port, pace=pace)
    ended = _signalled()  # before there is anything that could be left behind
    with contextlib.ExitStack() as stack:
        try:
            lab = stack.enter_context(made)
        except OSError as error:
            raise TargetError(
                f"The lab cannot listen on {address}:{port}: {error.strerror}; choose another port"
                " with --port, or --port 0 for a free one."
            ) from error
        _serve(lab, ready_file, seconds, ended)


def _signalled() -> int:
    """Return a descriptor to read from after Ctrl-C, a request to end, or a closed terminal.

    What waits for an event instead can miss it: Python runs a handler between two steps of its own,
    so that a signal that comes right before a wait is seen after it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, lambda *_: None)
    return reading


def _class() -> Any:
    """Return the class of labs, whose packages not everybody needs.

    Raises:
        MissingPackageError: They are not installed.
    """
    try:
        return importlib.import_module("unmask.lab.lab").Lab
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cryptography":
            raise
        raise missing_package("unmask lab", "cryptography", "python3-cryptography") from error


def _serve(lab: Lab, ready_file: Path | None, seconds: float | None, ended: int) -> None:
    """Say that it serves, and wait for its end."""
    with _told(lab, ready_file):
        put(_page(lab))
        select.select([ended], [], [], seconds)
    put("The lab has ended; nothing of it is left.\n")


@contextlib.contextmanager
def _told(lab: Lab, ready_file: Path | None) -> Iterator[None]:
    """Keep the ready file for as long as it is true.

    Raises:
        UsageError: It cannot be written.
    """
    if ready_file is None:
        yield
        return
    try:
        importlib.import_module("unmask.lab.handout").write_ready_file(ready_file, lab.described())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{ready_file}: cannot be written: {reason}") from error
    try:
        yield
    finally:
        ready_file.unlink(missing_ok=True)


def _page(lab: Lab) -> str:
    tokens = "\n".join(f"  {name:<9} {token}" for name, token in lab.tokens.items())
    passwords = "\n".join(f"  {name:<12} {word}" for name, word in lab.passwords.items())
    config, ca = lab.config_file, lab.ca_file
    here = f"pve://{lab.address} --ca-file {ca}"
    change = f"unmask fix {here} --vm 101 --cpu recommended"
    return f"""\
Proxmox VE {lab.cluster.edition.version}, emulated: cluster {lab.cluster.name} at {lab.url}

CA           {ca}
fingerprint  {lab.fingerprint}
config       {config}

Tokens:
{tokens}

Passwords:
{passwords}

Try:
  unmask audit --config {config} lab
  unmask audit --config {config} inside    # looks into the guests as well
  unmask audit --config {config} inside --output report.html
  unmask config check --config {config}
  UNMASK_PVE_TOKEN='{lab.tokens["partial"]}' unmask audit {here}    # sees a part

Then, with a login that may change guests, a plan, the change with its proof, and what was done:
  export UNMASK_PVE_TOKEN='{lab.tokens["root"]}'
  {change} --dry-run
  {change} --ack MIG001 --ack RST001 --yes --restart --verify
  unmask history

Ctrl-C ends it.
"""
