"""Guests of a Proxmox VE cluster whose CPU is changed by way of its API: pve://HOST[:PORT].

A configuration is changed with PUT, which answers when it is done or refused; with POST there would
be a task, and without quorum only that would say so.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from unmask.connect import proxmox_address
from unmask.connect.deadline import Clock
from unmask.connect.proxmox_answer import ABSENT, TEXT_LIMIT, ApiError
from unmask.errors import TargetError
from unmask.fixes import _pve_model, _pve_words
from unmask.fixes._pve_guest import PveGuest
from unmask.fixes._pve_way import Change, TaskError
from unmask.fixes._target import Kind, RefusedError
from unmask.model.change import Place
from unmask.model.source import CollectOptions

if TYPE_CHECKING:
    from unmask.connect.proxmox import Api

WHOLE_RUN = 7 * 24 * 3600.0
"""Seconds; each request and each wait has an end of its own."""
UPID = re.compile(r"UPID:(?P<node>[A-Za-z0-9-]+):[0-9A-Fa-f:]+:[^\s/]+:")
TASK_GRACE = 10.0
"""Seconds that a task may take beyond what it was given."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
LOG_LINES = 3
MODELS = "cluster/qemu/custom-cpu-models"
OLD = (
    "this version of Proxmox VE cannot make custom models by its API (9.1 and later can): use "
    "pve+ssh://, or add the section to /etc/pve/virtual-guest/cpu-models.conf yourself"
)


@dataclass(frozen=True, slots=True)
class ApiWay:
    """The way through the API."""

    api: Api
    seconds: float
    """What one question may take, with all its tries."""

    def get(self, path: str, node: str = "", **params: str) -> Any:  # noqa: ARG002
        """Ask; the entry node passes on what is about another one."""
        with self.api.clock.within(self.seconds):
            return self.api.get(path, **params)

    def change(self, node: str, vmid: str, change: Change) -> None:
        """Change the configuration."""
        form = {change.option: change.value, "digest": change.digest}
        self.api.put(f"nodes/{node}/qemu/{vmid}/config", form)

    def shut_down(self, node: str, vmid: str, seconds: float, *, force: bool) -> None:
        """Let the guest shut down."""
        form = {"timeout": str(max(int(seconds), 1))} | ({"forceStop": "1"} if force else {})
        upid = self.api.post(f"nodes/{node}/qemu/{vmid}/status/shutdown", form)
        self._follow(upid, seconds)

    def start(self, node: str, vmid: str, seconds: float) -> None:
        """Let the guest start."""
        self._follow(self.api.post(f"nodes/{node}/qemu/{vmid}/status/start", {}), seconds)

    def models(self) -> str:
        """Return the custom models that the login may see, as a file."""
        try:
            return _pve_model.as_file(self.get(MODELS))
        except ApiError as error:
            if error.status == ABSENT:
                raise RefusedError(OLD) from None
            raise

    def add_model(self, name: str, section: str) -> None:
        """Make a custom model."""
        form = {"cputype": name, **_pve_model.properties(section)}
        try:
            self.api.post(MODELS, form)
        except ApiError as error:
            if not _pve_words.lost(error) or not _pve_model.there(self.models(), name, section):
                raise

    def close(self) -> None:
        """Close the connections."""
        self.api.close()

    def _follow(self, upid: object, seconds: float) -> None:
        """Return when a task has ended well.

        Raises:
            TaskError: It has failed.
            ApiError: It has not ended in time, or nothing is known of it any more.
        """
        match = UPID.fullmatch(upid) if isinstance(upid, str) else None
        if match is None:
            raise ApiError("the answer names no task")
        path = f"nodes/{match['node']}/tasks/{quote(match[0], safe='')}"
        end = time.monotonic() + seconds + TASK_GRACE
        pause, said = FIRST_PAUSE, ""
        while time.monotonic() < end:
            row: Any = None
            try:
                row = self.get(f"{path}/status")
            except ApiError as error:
                if not _pve_words.lost(error):
                    raise ApiError(f"{match[0]} cannot be followed: {error}", error.needs) from None
                said = f": {error}"
            if isinstance(row, dict) and row.get("status") == "stopped":
                self._judge(path, str(row.get("exitstatus", "")))
                return
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
        raise ApiError(f"the task {match[0]} has not ended within {seconds:g} s{said}")

    def _judge(self, path: str, status: str) -> None:
        if status == "OK" or status.startswith("WARNINGS"):
            return
        try:
            rows = self.get(f"{path}/log", limit="500")
        except ApiError:
            rows = []
        lines = [str(row.get("t", "")) for row in rows if isinstance(row, dict)]
        told = [line for line in lines if line and not line.startswith("TASK ERROR")]
        tail = _pve_words.without_arguments("; ".join(told[-LOG_LINES:]))[-TEXT_LIMIT:]
        said = _pve_words.without_arguments(status)[:TEXT_LIMIT] or "the task has failed"
        raise TaskError(said + (f" (log: {tail})" if tail else ""))


def open_target(place: Place, options: CollectOptions) -> PveGuest:
    """Return the guest; nothing is asked yet.

    Raises:
        UsageError: The address is none.
        TargetError: There is no login for it.
    """
    from unmask.connect.proxmox import Api  # noqa: PLC0415 - needed for these targets only

    address = proxmox_address.parse(place.target)
    entries = (address, *(proxmox_address.entry(item) for item in options.access.entries))
    login = options.access.login
    if login is None:
        raise TargetError(f"{place.target}: there is no token or password for it (docs/proxmox.md)")
    api = Api(entries, login, options.access.trust, Clock(WHOLE_RUN), options.workers)
    return PveGuest(ApiWay(api, options.timeout), place.ident)


TARGET = Kind(name="proxmox", fits=proxmox_address.fits, open=open_target)
