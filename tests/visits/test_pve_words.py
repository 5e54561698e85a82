"""What Proxmox VE says of an agent, in the words that were recorded at a real cluster."""

from __future__ import annotations

import pytest

from unmask.visits import _pve_words

SAID = {
    "500 No QEMU guest agent configured": "not switched on",
    "500 QEMU guest agent is not running": "does not answer",
    "VM 101 qga command 'guest-ping' failed - got timeout": "does not answer",
    "500 VM 122 is not running": "does not run any more",
    "500 Configuration file 'nodes/pve1/qemu-server/99999.conf' does not exist": "has moved",
    "500 Agent error: Command guest-exec has been disabled": "may not run programs",
    "Agent error: Command guest-exec has been disabled for this instance": "may not run programs",
    "500 Agent error: Guest agent command failed, error was 'Failed to execute child process "
    "\u201c/bin/sh\u201d (No such file or directory)'": "no shell",
    "500 Agent error: Invalid parameter 'pid'": "lost the answer",
}


@pytest.mark.parametrize("text", SAID)
def test_what_is_known_is_said_in_our_words(text: str) -> None:
    assert SAID[text] in _pve_words.shut(text).reason


def test_what_is_needed_by_the_error_goes_first() -> None:
    text = "403 Permission check failed (/vms/101, VM.GuestAgent.Unrestricted)"
    why = _pve_words.shut(text, "VM.GuestAgent.Unrestricted on /vms/101")
    assert (why.reason, why.needs) == (text, "VM.GuestAgent.Unrestricted on /vms/101")


def test_what_is_not_known_is_quoted_within_bounds() -> None:
    reason = _pve_words.shut("500 Agent error: \x1b]0;x\x07 " + "long " * 1000).reason
    assert reason.startswith("500 Agent error: ?]0;x? long")
    assert len(reason) <= 300
    assert _pve_words.shut("").reason == "no reason was given"


@pytest.mark.parametrize("text", SAID)
def test_only_what_holds_for_every_question_is_remembered(text: str) -> None:
    alone = ("may not run programs", "no shell", "lost the answer")
    assert _pve_words.altogether(_pve_words.shut(text)) is (SAID[text] not in alone)
