"""What to say of a connection to Proxmox VE's API that did not come about, or that broke."""

from __future__ import annotations

import re
import ssl

from urllib3.exceptions import NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as PoolTimeoutError

from unmask.connect import tls
from unmask.connect.proxmox_address import Address
from unmask.connect.proxmox_answer import ApiError, TransientError
from unmask.errors import TargetError

TUNNEL = re.compile(r"Tunnel connection failed: (\d+ .*)")
"""What http.client says of a proxy that refuses."""


def broken(entry: Address, place: str, error: Exception) -> TargetError | ApiError:
    """Return what to say of a connection to `place` that did not come about or broke."""
    cause = error.args[0] if isinstance(error, SSLError) and error.args else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return tls.refused(entry.host, entry.port, cause.verify_message)
    if isinstance(error, SSLError):
        return TransientError(f"{place} does not speak TLS as it should ({cause or error})")
    if isinstance(error, PoolTimeoutError) and not isinstance(error, NewConnectionError):
        return TransientError(f"{place} cannot be reached: no answer")
    return TransientError(f"{place} {_how(error)}")


def _how(error: BaseException) -> str:
    """Return how a connection failed, from the innermost cause that has words for it."""
    inner: BaseException | None = error
    while inner is not None:
        said = TUNNEL.search(str(inner)) if isinstance(inner, OSError) else None
        if said:
            return f"does not let one through: {said[1][:100]}"
        if isinstance(inner, OSError) and inner.strerror:
            return f"cannot be reached: {inner.strerror}"
        inner = inner.__cause__ or inner.__context__
    if "IncompleteRead" in repr(error):
        return "closed the connection before the end of its answer"
    return "closed the connection without an answer"
