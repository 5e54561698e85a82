"""How this machine encrypts what its guests' disks lie on, asked of its own programs."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Sequence

from unmask.model.disk import HostEncryption
from unmask.visits import _node_script

NOTHING: tuple[HostEncryption, ...] = ()


def encryption(
    paths: Sequence[str], host: str, seconds: float
) -> tuple[tuple[HostEncryption, ...], ...]:
    """Return the encryption below each path, none where nobody tells.

    Args:
        paths: Of files and block devices.
        host: The machine's name, for people.
        seconds: That it may take.
    """
    mark = secrets.token_hex(16)
    script = _node_script.beneath(mark, enumerate(paths))
    try:
        done = subprocess.run(
            _node_script.COMMAND.split(),
            input=script.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return tuple(NOTHING for _ in paths)
    told = _node_script.told(done.stdout, mark)
    return tuple(
        _node_script.encryption(told.get(number, {}), host) for number, _ in enumerate(paths)
    )
