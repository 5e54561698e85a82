"""What libvirt's errors mean to the person who gave the URI.

Codes and domains are those of libvirt/virterror.h; the texts were observed with libvirt 9.0. The
text is looked at only where one code stands for several causes.
"""

from __future__ import annotations

import re

from unmask.errors import TargetError, UnreadError

NO_SUPPORT = 3
NO_CONNECT = 5
OPERATION_DENIED = 29
SYSTEM_ERROR = 38
RPC = 39
NO_DOMAIN = 42
OPERATION_INVALID = 55
OPERATION_TIMEOUT = 68
ARGUMENT_UNSUPPORTED = 74
AGENT_UNRESPONSIVE = 86
ACCESS_DENIED = 88
AUTH = frozenset({45, 79, 80, ACCESS_DENIED})
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

WRITE_ACCESS = "write access to libvirt (membership of the group libvirt, or root)"
AGENT = "qemu-guest-agent installed and running in the guest"
MAY_EXEC = (
    "guest-exec and guest-exec-status allowed in the guest (block-rpcs in /etc/qemu/qemu-ga.conf; "
    "on Red Hat's systems BLACKLIST_RPC, BLOCK_RPCS or FILTER_RPC_ARGS in /etc/sysconfig/qemu-ga)"
)
OTHER_POLICY = "SSH into the guest, or SELinux's leave for its type virt_qemu_ga_t"

GUEST_CAUSES: tuple[tuple[int, str, str, str], ...] = (
    (NO_SUPPORT, r"", "this hypervisor's driver of libvirt does not offer it", ""),
    (OPERATION_DENIED, r"", "a read-only connection may not do this", WRITE_ACCESS),
    (ACCESS_DENIED, r"", "libvirt does not allow this to this user", WRITE_ACCESS),
    (NO_DOMAIN, r"", "it is not there any more", ""),
    (OPERATION_INVALID, r"not running", "it does not run", ""),
    (
        ARGUMENT_UNSUPPORTED,
        r"agent is not configured",
        "it has no channel for a guest agent",
        "a channel org.qemu.guest_agent.0 in its XML, and qemu-guest-agent in the guest",
    ),
    (AGENT_UNRESPONSIVE, r"not connected", "its guest agent does not run", AGENT),
    (
        AGENT_UNRESPONSIVE,
        r"due to an error",
        "libvirt has given its guest agent up after an answer that made no sense to it",
        "a stop and start of the guest",
    ),
    (AGENT_UNRESPONSIVE, r"", "its guest agent does not answer", AGENT),
    (OPERATION_TIMEOUT, r"", "somebody else keeps its guest agent busy", "another try"),
    (RPC, r"encode message", "its guest agent's answer is longer than libvirt takes", ""),
    (SYSTEM_ERROR, r"No complete agent response", "its guest agent answers without end", ""),
    (
        1,
        r"cannot parse json|JSON reply",
        "its guest agent answers in a way that is none of an agent's",
        "",
    ),
    (1, r"frozen", "its file systems are frozen for a backup", "another try"),
    (1, r"has been disabled", "its guest agent may not run programs", MAY_EXEC),
    (
        1,
        r"has not been found",
        "its guest agent is too old to run programs",
        "qemu-guest-agent 2.5 or later in the guest",
    ),
    (
        1,
        r"Failed to execute child process.*Permission denied",
        "its guest agent is not let run a shell, as SELinux has it on Red Hat's systems",
        OTHER_POLICY,
    ),
    (1, r"Failed to execute child process.*No such file", "the program is not in the guest", ""),
)
"""Code, pattern in the text, what is wrong with one guest, and what would be needed. The texts of
the agent itself all come with code 1 (VIR_ERR_INTERNAL_ERROR)."""


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


def unread(code: int, text: str) -> UnreadError:
    """Return why a guest could not be asked something, and what would be needed."""
    line = "".join(c if c.isprintable() else " " for c in first_line(text))
    for wanted, pattern, reason, needs in GUEST_CAUSES:
        if code == wanted and re.search(pattern, line):
            return UnreadError(reason, needs)
    return UnreadError(f"libvirt says: {line}")
