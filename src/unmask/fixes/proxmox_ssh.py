"""Guests of a Proxmox VE cluster whose CPU is changed with the tools on its nodes: pve+ssh://HOST.

`pvesh` answers what the API would, as JSON; `qm set` with a digest changes a configuration at once;
`qm shutdown` and `qm start` end with their task. Each runs on the guest's own node.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unmask.connect.proxmox_answer import ApiError
from unmask.connect.ssh_session import ExecResult, Limit
from unmask.errors import TargetError
from unmask.fixes import _pve_model, _pve_model_file, _pve_words
from unmask.fixes._pve_guest import PveGuest
from unmask.fixes._pve_way import Change
from unmask.fixes._target import Kind
from unmask.model.change import Place
from unmask.model.source import CollectOptions
from unmask.sources.proxmox_ssh import fits
from unmask.visits import _pve_nodes
from unmask.visits._channel import NoWayError
from unmask.visits._pve_nodes import Nodes

PROGRAM_SECONDS = 30.0
"""In which a tool of Proxmox VE answers; it starts in one, and waits 10 for a lock."""
WRITE_SECONDS = 30.0
TASK_GRACE = 15.0
"""Seconds that `qm` may take beyond what its task was given."""
LIMIT = Limit(stdout=16 * 1024 * 1024, stderr=64 * 1024)
LAST_LINES = 4
TEXT_LIMIT = 400
"""Of what a tool says against something; the reason comes last."""
NO_PROGRAM = 127
USAGE = ("qm ", "pvesh ", "update VM ")
"""Beginnings of lines that say nothing of what went wrong."""


@dataclass(frozen=True, slots=True)
class NodeWay:
    """The way over the nodes."""

    nodes: Nodes

    def get(self, path: str, node: str = "", **params: str) -> Any:
        """Ask the API of a node, without its web server."""
        words = [word for key, value in params.items() for word in (f"--{key}", value)]
        command = ["pvesh", "get", f"/{path}", *words, "--output-format", "json"]
        result = self._tool(node, command, PROGRAM_SECONDS)
        try:
            return json.loads(result.stdout.decode("utf-8", errors="replace"))
        except (ValueError, RecursionError):
            raise TargetError("pvesh answered with something that is no JSON") from None

    def change(self, node: str, vmid: str, change: Change) -> None:
        """Change the configuration."""
        words = ["qm", "set", vmid, f"--{change.option}", change.value, "--digest", change.digest]
        self._tool(node, words, WRITE_SECONDS)

    def shut_down(self, node: str, vmid: str, seconds: float, *, force: bool) -> None:
        """Let the guest shut down."""
        words = ["qm", "shutdown", vmid, "--timeout", str(max(int(seconds), 1))]
        self._tool(node, [*words, *(["--forceStop", "1"] if force else [])], seconds + TASK_GRACE)

    def start(self, node: str, vmid: str, seconds: float) -> None:
        """Let the guest start."""
        self._tool(node, ["qm", "start", vmid], seconds + TASK_GRACE)

    def models(self) -> str:
        """Return cpu-models.conf."""
        return self._file().decode("utf-8", errors="replace")

    def add_model(self, name: str, section: str) -> None:
        """Add a section to cpu-models.conf, and look whether it is there with all the others."""
        before = self._file()
        digest = hashlib.sha256(before).hexdigest() if before else ""
        text = before.decode("utf-8", errors="replace")
        script = _pve_model_file.adding(text, digest, section)
        _pve_model_file.judged(self._script(script))
        after = self._file()
        whole = after.startswith(before)
        if not whole or not _pve_model.there(after.decode("utf-8", "replace"), name, section):
            raise TargetError(f"the model {name} was written, but somebody has changed the file")

    def close(self) -> None:
        """End the sessions."""
        self.nodes.close()

    def _file(self) -> bytes:
        result = self._script(_pve_model_file.reading())
        _pve_model_file.judged(result)
        return result.stdout

    def _script(self, script: bytes) -> ExecResult:
        return self._run("", _pve_model_file.COMMAND, _pve_model_file.SECONDS, script)

    def _tool(self, node: str, words: Sequence[str], seconds: float) -> ExecResult:
        result = self._run(node, ["env", "LC_ALL=C", *words], seconds)
        if result.truncated:
            raise TargetError(f"{words[0]} answered with more than a node has to tell")
        if result.status != 0:
            raise _failed(words[0], result)
        return result

    def _run(
        self, node: str, command: str | Sequence[str], seconds: float, stdin: bytes = b""
    ) -> ExecResult:
        """Run something on a node.

        Raises:
            TargetError: There is no way to the node.
            ApiError: With status 0: the connection was lost, or the command did not end in time.
        """
        end = time.monotonic() + seconds
        try:
            with self.nodes.on(node or self.nodes.entry, seconds) as session:
                try:
                    return session.run(command, stdin, max(end - time.monotonic(), 0.1), LIMIT)
                except TargetError as error:
                    raise ApiError(str(error)) from None
        except NoWayError as error:
            needs = f" (needs {error.needs})" if error.needs else ""
            raise TargetError(f"{error.reason}{needs}") from None


def _failed(program: str, result: ExecResult) -> ApiError:
    """Return what a tool says; with status 0 where it was ended before it could."""
    if result.status == NO_PROGRAM:
        return ApiError(f"there is no {program} on the node", "root on a Proxmox VE node", 500)
    lines = [line.strip() for line in result.stderr.decode("utf-8", "replace").splitlines()]
    told = [line for line in lines if line and not line.startswith(USAGE)]
    said = _pve_words.without_arguments("; ".join(told[-LAST_LINES:]))[-TEXT_LIMIT:]
    text = said or f"{program} ended with {result.status}"
    return ApiError(text, status=500 if result.status > 0 else 0)


def open_target(place: Place, options: CollectOptions) -> PveGuest:
    """Log in to the node that the target names; the guest's own node is logged in to when needed.

    Raises:
        UsageError: The target is not written as it should be.
        TargetError: Nobody lets one in, or it is no node.
    """
    return PveGuest(NodeWay(_pve_nodes.log_in(place.target, options)), place.ident)


TARGET = Kind(name="proxmox_ssh", fits=fits, open=open_target)
