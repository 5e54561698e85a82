"""How a program ended: by its exit status, and by what the shell said of its death."""

from __future__ import annotations

import re

from unmask.model.bench import Ended

SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    13: "SIGPIPE",
    14: "SIGALRM",
    15: "SIGTERM",
    24: "SIGXCPU",
}
SIGILL = 4
TIMEOUT = 124
"""What coreutils' and busybox's `timeout` end with."""
WINDOWS_ILLEGAL = frozenset({0xC000001D, 0xC000001D - 2**32})
"""STATUS_ILLEGAL_INSTRUCTION, unsigned and signed."""

ILLEGAL = re.compile(
    r"illegal (?:hardware )?instruction|\bSIGILL\b|trap invalid opcode|invalid opcode:"
    r"|ung.ltiger maschinenbefehl|instruction (?:non permise|ill.gale)|instrucci.n ilegal"
    r"|istruzione non consentita|instru..o ilegal|недопустимая инструкция|非法指令",
    re.IGNORECASE,
)
"""bash, dash, busybox, ksh ("(coredump)"), zsh, csh; C library translations; the kernel's log."""
KILLED = re.compile(
    r"(?:^|[ :\d])(?P<word>Segmentation fault|Bus error|Aborted|Killed|Terminated|Alarm clock"
    r"|Floating point exception)(?: ?\(core ?dumped\))?[ ]*(?:$|openssl|cryptsetup|\()",
    re.MULTILINE,
)
_NO_PROGRAM = re.compile(
    r"^.{0,200}?(?P<program>\b(?:openssl|cryptsetup|ab|fio|dd|iperf3))(?:\.exe)?['\"]?"
    r"(?:: | +)(?:[Cc]ommand )?(?:not found|No such file or directory"
    r"|is not recognized as an internal).{0,80}$"
    r"|^.{0,80}\b(?:command not found|Unknown command): "
    r"(?P<zsh>openssl|cryptsetup|ab|fio|dd|iperf3)$",
    re.MULTILINE,
)
_NO_START = re.compile(
    r"^.{0,300}(?:error while loading shared libraries|cannot execute|Exec format error"
    r"|symbol lookup error|version `[^'\n]{1,60}' not found|Permission denied"
    r"|[Cc]annot allocate memory).{0,200}$",
    re.MULTILINE,
)


def by_status(status: int | None) -> tuple[Ended, str]:
    """Return how a program ended that ended with `status`, and that in words.

    Args:
        status: A shell's ($?, 128 + signal), Python's (- signal; give the guest agent's "signal"
            as a negative number), ksh93's (256 + signal) or Windows' status; None where it is not
            known, which counts as well.
    """
    if status is None or status == 0:
        return Ended.WELL, ""
    number = _signal(status)
    if number == SIGILL or status in WINDOWS_ILLEGAL:
        return Ended.ILLEGAL, "killed by an illegal instruction (SIGILL)"
    if number:
        return Ended.KILLED, f"killed by signal {number} ({SIGNALS.get(number, 'another')})"
    if status == TIMEOUT:
        return Ended.LATE, "not done within its time"
    if status == 127:
        return Ended.FAILED, "the program is not there (status 127)"
    return Ended.FAILED, f"it ended with status {status}"


def _signal(status: int) -> int:
    """Return the number of the signal that a status means; 0 for none."""
    for base in (0, 128, 256):
        number = -status if base == 0 else status - base
        if 1 <= number <= 64:
            return number
    return 0


def missing_program(text: str) -> str:
    """Return what a shell or a loader said that could not start the program; "" for nothing."""
    match = _NO_PROGRAM.search(text)
    if match:
        return f"{match['program'] or match['zsh']} is not there"
    match = _NO_START.search(text)
    return f"it could not be started: {match[0].strip()[:160]}" if match else ""
