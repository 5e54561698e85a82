"""What a guest of Proxmox VE is changed by: the API, or the tools on its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from unmask.connect.proxmox_answer import ApiError


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the option `cpu`, guarded by the digest of the configuration."""

    option: str
    """`cpu`, `delete` or `revert`, as the API and `qm set` call them."""
    value: str
    """What `cpu` becomes, or "cpu" for the other two."""
    digest: str


class TaskError(ApiError):
    """A task has failed; its text ends with what it has logged last."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=500)


class Way(Protocol):
    """Every method raises `ApiError` with Proxmox VE's words, or `TargetError`.

    A status of 0 says that nobody knows whether something was done.
    """

    def get(self, path: str, node: str = "", **params: str) -> Any:
        """Return what GET `path` of the API has for `data`; `node` is the one it is about."""

    def change(self, node: str, vmid: str, change: Change) -> None:
        """Change the configuration, and return when that is done."""

    def shut_down(self, node: str, vmid: str, seconds: float, *, force: bool) -> None:
        """Let the guest shut down, and return when the task for it has ended."""

    def start(self, node: str, vmid: str, seconds: float) -> None:
        """Let the guest start, and return when the task for it has ended."""

    def add_model(self, name: str, section: str) -> None:
        """Define the custom model that a section of cpu-models.conf describes."""

    def models(self) -> str:
        """Return cpu-models.conf, or what it would be."""

    def close(self) -> None:
        """Let go of the connection."""
