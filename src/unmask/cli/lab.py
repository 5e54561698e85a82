"""`unmask lab`: a cluster to try everything on, which nothing can be broken in."""

from __future__ import annotations

import importlib
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unmask.cli.terminal import put
from unmask.errors import MissingPackageError, TargetError

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
SECONDS = typer.Option("--for", metavar="SECONDS", min=0, help="End by itself after this time.")
PACE = typer.Option(
    "--pace",
    min=0,
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
    try:
        with made as lab:
            _serve(lab, ready_file, seconds)
    except OSError as error:
        raise TargetError(
            f"The lab cannot listen on {address}:{port}: {error.strerror}; choose another port with"
            " --port, or --port 0 for a free one."
        ) from error
    finally:
        if ready_file:
            ready_file.unlink(missing_ok=True)


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
        raise MissingPackageError(
            "unmask lab needs the Python package cryptography: pip install 'unmask[lab]'."
        ) from error


def _serve(lab: Lab, ready_file: Path | None, seconds: float | None) -> None:
    """Say that it serves, and wait for its end."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    if ready_file:
        importlib.import_module("unmask.lab.handout").write_ready_file(ready_file, lab.described())
    put(_page(lab))
    ended.wait(seconds)
    put("The lab has ended; nothing of it is left.\n")


def _page(lab: Lab) -> str:
    tokens = "\n".join(f"  {name:<9} {token}" for name, token in lab.tokens.items())
    passwords = "\n".join(f"  {name:<12} {word}" for name, word in lab.passwords.items())
    config = lab.config_file
    return f"""\
Proxmox VE {lab.cluster.edition.version}, emulated: cluster {lab.cluster.name} at {lab.url}

CA           {lab.ca_file}
fingerprint  {lab.fingerprint}
config       {config}

Tokens:
{tokens}

Passwords:
{passwords}

Try:
  unmask audit --config {config} lab
  unmask audit --config {config} --format json lab
  curl --cacert {lab.ca_file} -H 'Authorization: PVEAPIToken={lab.tokens["audit"]}' \\
       {lab.url}/api2/json/cluster/resources

Ctrl-C ends it.
"""
