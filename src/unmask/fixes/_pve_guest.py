"""One guest of Proxmox VE whose CPU is changed, whatever the way to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from unmask.connect.proxmox_answer import ApiError
from unmask.errors import ChangeError, TargetError
from unmask.fixes import _pve_config, _pve_model, _pve_value, _pve_words
from unmask.fixes._pve_config import CPU, Config
from unmask.fixes._pve_way import Change, Way
from unmask.fixes._target import ChangedError, RefusedError
from unmask.model.change import Setting
from unmask.model.inventory import GuestState

T = TypeVar("T")

SETTLES = 12.0
"""Seconds after which a write whose answer was lost will not be done any more: it waits for the
guest's file lock for 10."""
GRACE = 10.0
"""Seconds between the end of a task and the state that comes of it."""
HA_GRACE = 60.0
"""The same where the HA manager does it, which looks around every 10 seconds on each node."""
PAUSE = 0.5
HA_FORCES = (
    "high availability manages the guest, and its manager pulls the plug of a guest that is not "
    "off in time: nothing was stopped; allow that with --force-stop, or stop and start the guest "
    "yourself"
)


class PveGuest:
    """A `Target`; see `unmask.fixes._target` for what its methods promise."""

    def __init__(self, way: Way, vmid: str) -> None:
        self._way = way
        self._vmid = vmid
        self._node = ""

    def read(self) -> Setting:
        """Return `cpu` for the next start, a waiting change included, and the digest."""
        config = self._config()
        return Setting(config.cpu, config.digest, config.made)

    def same(self, left: Setting, right: Setting) -> bool:
        """Return whether both ask for the same CPU."""
        return _pve_value.same(left.value, right.value)

    def takes_hold(self) -> str:
        """Return when `cpu` takes hold, "" where nothing waits."""
        config = self._config()
        if not config.waits:
            return ""
        now, then = config.current or "the default", config.cpu or "the default"
        return (
            f"the guest goes on with {now} until it is shut down or stopped by Proxmox VE; "
            f"{then} waits for that (a reboot from inside the guest does not do it)"
        )

    def write(self, before: Setting, after: Setting) -> None:
        """Set `cpu`, or take it away, and nothing else."""
        now = self._config()
        self._as_before(now, before)
        if now.cpu == after.value:
            return
        change = _change(now, after.value)
        try:
            self._at_home(lambda node: self._way.change(node, self._vmid, change))
        except ApiError as error:
            then = self._settled(now, after.value, error)
        else:
            then = self._config()
        changed = _pve_config.differences(now, then)
        if changed:
            raise ChangeError(
                f"cpu is written, but at the same time somebody has changed {', '.join(changed)}"
            )

    def _as_before(self, now: Config, before: Setting) -> None:
        if now.cpu != before.value:
            was, found = _told(before.value), _told(now.cpu)
            raise ChangedError(
                f"cpu is {found} now and was {was} when it was read: somebody has changed it; look "
                "at it and plan again"
            )
        if now.digest != before.digest:
            raise ChangedError(
                f"the guest's configuration has changed since it was read, though cpu is still "
                f"{_told(now.cpu)}: look at it and plan again"
            )

    def _settled(self, before: Config, wanted: str | None, error: ApiError) -> Config:
        """Return the configuration where the change was made in spite of an error.

        Raises:
            ChangeError: It was not made.
            TargetError: Nobody knows.
        """
        unsure = _pve_words.lost(error)
        if _pve_words.sure(error):
            raise _pve_words.refused(error, self._vmid)
        end = time.monotonic() + (SETTLES if unsure else 0.0)
        while True:
            now = self._config()
            if now.cpu == wanted:
                return now
            if now.digest != before.digest or time.monotonic() >= end:
                break
            time.sleep(PAUSE)
        if unsure:
            raise TargetError(
                f"the answer to the change was lost ({error}); cpu is still {_told(now.cpu)}"
            )
        raise _pve_words.refused(error, self._vmid)

    def state(self) -> GuestState:
        """Return whether the guest runs."""
        return _state(self._status())

    def shut_down(self, seconds: float, *, force: bool) -> None:
        """Let the guest shut down, by the HA manager where that manages it."""
        row = self._status()
        if _state(row) in (GuestState.STOPPED, GuestState.SUSPENDED):
            return
        managed = _managed(row)
        if managed and not force:
            raise RefusedError(HA_FORCES)
        way, vmid = self._way, self._vmid
        end = time.monotonic() + seconds + (HA_GRACE if managed else GRACE)
        said = self._powered(lambda node: way.shut_down(node, vmid, seconds, force=force))
        if not self._comes(GuestState.STOPPED, end):
            raise RefusedError(f"the guest was not off within {seconds:g} s{said}; it is left on")

    def start(self, seconds: float) -> None:
        """Start the guest, by the HA manager where that manages it."""
        row = self._status()
        if _state(row) in (GuestState.RUNNING, GuestState.PAUSED):
            return
        end = time.monotonic() + seconds + (HA_GRACE if _managed(row) else GRACE)
        said = self._powered(lambda node: self._way.start(node, self._vmid, seconds))
        if not self._comes(GuestState.RUNNING, end):
            said = said or self._failed_last()
            raise RefusedError(f"the guest does not run {seconds:g} s after its start{said}")

    def _failed_last(self) -> str:
        """Return why the guest's last task has failed, where another one did what we asked for."""
        try:
            rows = self._at_home(
                lambda node: self._way.get(
                    f"nodes/{node}/tasks", node, vmid=self._vmid, limit="1", source="all"
                )
            )
        except (ApiError, TargetError):
            return ""
        row = rows[0] if isinstance(rows, list) and rows else None
        status = row.get("status") if isinstance(row, dict) else None
        if not isinstance(status, str) or status in ("OK", "RUNNING"):
            return ""
        return f" ({_pve_words.without_arguments(status)})"

    def _powered(self, do: Callable[[str], None]) -> str:
        """Do something to the guest's power; return what to add where its answer was lost."""
        try:
            self._at_home(do)
        except ApiError as error:
            if not _pve_words.lost(error):
                raise _pve_words.refused(error, self._vmid) from None
            return f" ({error})"
        return ""

    def _comes(self, wanted: GuestState, end: float) -> bool:
        while self.state() is not wanted:
            if time.monotonic() >= end:
                return False
            time.sleep(PAUSE)
        return True

    def make_model(self, section: str) -> None:
        """Define a custom model, where the cluster does not have just this one already.

        Args:
            section: Of cpu-models.conf, as `unmask.dialects.proxmox.custom_section` writes it.

        Raises:
            RefusedError: There is another one of that name, or Proxmox VE refuses.
            TargetError: The answer was lost.
        """
        name = _pve_model.name_of(section)
        try:
            if _pve_model.there(self._way.models(), name, section):
                return
            self._way.add_model(name, section)
        except ApiError as error:
            if not _pve_words.lost(error):
                raise _pve_words.refused(error, self._vmid) from None
            raise TargetError(f"whether the model {name} was made is not known: {error}") from None

    def close(self) -> None:
        """Let the connection go."""
        self._way.close()

    def _config(self) -> Config:
        return _pve_config.read(self._about("pending"))

    def _status(self) -> dict[str, Any]:
        row = self._about("status/current")
        if not isinstance(row, dict):
            raise TargetError("the answer on the guest's state is not what Proxmox VE sends")
        return row

    def _about(self, what: str) -> Any:
        try:
            return self._at_home(
                lambda node: self._way.get(f"nodes/{node}/qemu/{self._vmid}/{what}", node)
            )
        except ApiError as error:
            raise _unread(error) from None

    def _at_home(self, do: Callable[[str], T]) -> T:
        """Do something on the node where the guest is, and again where it has just moved."""
        known = self._node
        self._node = known or self._find()
        try:
            return do(self._node)
        except ApiError as error:
            if not known or not _pve_words.moved(error):
                raise
        self._node = self._find()
        return do(self._node)

    def _find(self) -> str:
        try:
            rows = self._way.get("cluster/resources", type="vm")
        except ApiError as error:
            raise _unread(error) from None
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and str(row.get("vmid")) == self._vmid:
                node = row.get("node")
                if row.get("type") == "qemu" and isinstance(node, str) and _pve_words.NODE(node):
                    return node
                raise TargetError(f"{self._vmid} is a container, which has no CPU model of its own")
        raise TargetError(
            f"there is no guest {self._vmid}, or the login may not see it (VM.Audit on "
            f"/vms/{self._vmid})"
        )


def _change(now: Config, value: str | None) -> Change:
    """Return what takes one there: where a waiting change only has to go, that is taken back."""
    if now.waits and now.current == value:
        return Change("revert", CPU, now.digest)
    if value is None:
        return Change("delete", CPU, now.digest)
    return Change(CPU, value, now.digest)


def _told(value: str | None) -> str:
    return "not set" if value is None else value


def _unread(error: ApiError) -> TargetError:
    return TargetError(f"{error}" + (f" (needs {error.needs})" if error.needs else ""))


def _state(row: dict[str, Any]) -> GuestState:
    match row.get("status"), row.get("qmpstatus"):
        case "running", "paused" | "prelaunch" | "suspended":
            return GuestState.PAUSED
        case "running", _:
            return GuestState.RUNNING
        case "stopped", _:
            suspended = row.get("lock") == "suspended"
            return GuestState.SUSPENDED if suspended else GuestState.STOPPED
    return GuestState.UNKNOWN


def _managed(row: dict[str, Any]) -> bool:
    high = row.get("ha")
    if not isinstance(high, dict) or high.get("state") == "ignored":
        return False
    return str(high.get("managed")) == "1"
