"""What libvirt's errors mean to the person who gave the URI.

Codes and domains are those of libvirt/virterror.h; the texts were observed with libvirt 9.0. The
text is looked at only where one code stands for several causes.
"""

from __future__ import annotations

import re

from unmask.errors import TargetError

NO_CONNECT = 5
OPERATION_DENIED = 29
NO_DOMAIN = 42
AUTH = frozenset({45, 79, 80, 88})
"""AUTH_FAILED, AUTH_CANCELLED, AUTH_UNAVAILABLE, ACCESS_DENIED."""
DBUS = 47
"""Error domain: polkit could not be asked."""

LIMIT = 300
"""Characters of libvirt's own text that are passed on."""

CAUSES = (
    (
        r"Failed to connect socket to '(.*?)': No such file",
        "its socket {0} does not exist; start libvirt there (systemctl start libvirtd)",
    ),
    (
        r"Failed to connect socket to '(.*?)': Permission denied",
        "this user may not open its socket {0}; join the group libvirt or run as root",
    ),
    (
        r"Failed to connect socket to '(.*?)': Connection refused",
        "nothing listens on its socket {0}; start libvirt (systemctl start libvirtd)",
    ),
    (
        r"unable to connect to server at '(.*?)': (.*)",
        "no libvirt answers at {0} ({1}); check that it listens on TCP, or use qemu+ssh://",
    ),
    (
        r"Cannot read (.*?) '(.*?)'",
        "TLS needs the {0} {1}; install it, or use qemu+ssh:// (qemu://HOST means TLS)",
    ),
    (
        r"Cannot recv data: (.*?)(?:: Connection reset by peer)?$",
        "the connection ended: {0}; check that the same ssh command works by hand",
    ),
    (r"transport in URL not recognised", "libvirt does not know the transport in this URI"),
    (
        r"Unable to get system bus connection",
        "access is decided by polkit, which cannot be asked here; run as root",
    ),
    (
        r"(?:authentication|access denied).*",
        "access is refused ({0}); join the group libvirt, run as root, or check the credentials",
    ),
)
"""Patterns in libvirt's texts, and what is wrong and what to do."""


def refused(code: int, domain: int, text: str) -> bool:
    """Return whether access with the right to change things was denied, so that reading may do."""
    return code in AUTH or code == OPERATION_DENIED or domain == DBUS or "Permission denied" in text


def first_line(text: str) -> str:
    """Return the first line of libvirt's text, bounded."""
    line = text.strip().splitlines()[0] if text.strip() else "no reason given"
    return line[:LIMIT]


def explain(uri: str, code: int, text: str) -> TargetError:
    """Return one sentence that says why `uri` cannot be read and what to do."""
    line = first_line(text)
    if code == NO_CONNECT:
        return TargetError(f"{uri}: libvirt has no driver for this URI; try qemu:///system")
    for pattern, meaning in CAUSES:
        match = re.search(pattern, line)
        if match:
            groups = match.groups() or (match.group(),)
            return TargetError(f"{uri}: {meaning.format(*groups)}")
    return TargetError(f"{uri}: libvirt says: {line}")
