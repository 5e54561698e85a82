"""What refusals as a real cluster words them are told as."""

from __future__ import annotations

import pytest

from unmask.connect.proxmox_answer import ApiError, refusal
from unmask.connect.ssh_session import ExecResult
from unmask.fixes import _pve_words, proxmox_ssh
from unmask.fixes._target import ChangedError, RefusedError

ANY = (
    "VM.Config.Disk|VM.Config.CDROM|VM.Config.CPU|VM.Config.Memory|VM.Config.Network"
    "|VM.Config.HWType|VM.Config.Options|VM.Config.Cloudinit"
)


def error(status: int, phrase: str, **errors: str) -> ApiError:
    return refusal(status, phrase, {"errors": errors} if errors else {})


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            error(403, f"Permission check failed (/vms/101, {ANY})"),
            "lacks VM.Config.CPU on /vms/101 ",
        ),
        (
            error(403, "Permission check failed (/mapping/cpu/nas, Mapping.Use)"),
            "lacks Mapping.Use on /mapping/cpu/nas ",
        ),
        (error(403, "Permission check failed (/nodes, Sys.Audit)"), "lacks Sys.Audit on /nodes "),
        (error(403, "Permission check failed"), "a privilege that Proxmox VE does not name"),
        (error(500, "VM is locked (backup)"), "is locked (backup)"),
        (error(500, "VM is locked (snapshot-delete)"), "is locked (snapshot-delete)"),
        (error(500, "VM is locked (suspended)"), "the guest is hibernated"),
        (
            error(500, "can't lock file '/var/lock/qemu-server/lock-101.conf' - got timeout"),
            "another task is at work on the guest",
        ),
        (
            error(
                500,
                "unable to open file '/etc/pve/nodes/pve2/qemu-server/200.conf.tmp.19947' - "
                "Permission denied",
            ),
            "no quorum",
        ),
        (error(500, "cluster not ready - no quorum?"), "no quorum"),
        (
            error(500, "cfs-lock 'file-virtual-guest_cpu-models_conf' error: no quorum!"),
            "no quorum",
        ),
        (error(500, "only root can set 'args' config"), "may change `args`, no token may"),
        (
            error(
                400,
                "Parameter verification failed.",
                cpu="invalid format - Custom cputype 'missing' not found\n",
            ),
            "no custom model missing",
        ),
        (
            error(
                400,
                "Parameter verification failed.",
                cpu="invalid format - VM-specific CPU flags must be a subset of: aes, hv-evmcs\n",
            ),
            "only these flags at a guest: aes, hv-evmcs; for others it wants a custom model",
        ),
        (error(500, "custom CPU model 'rec1' already exists"), "a custom model rec1 already"),
        (error(595, "Network is unreachable"), "the node on which the guest is cannot be reached"),
        (error(500, "VM is paused - cannot shutdown"), "VM is paused - cannot shutdown"),
        (error(500, "VM quit/powerdown failed - got timeout"), "in time"),
    ],
)
def test_what_is_told(said: ApiError, told: str) -> None:
    found = _pve_words.refused(said, "101")
    assert isinstance(found, RefusedError)
    assert told in str(found)
    assert "\n" not in str(found)


@pytest.mark.parametrize(
    "text",
    [
        "checksum mismatch (file change by other user?)",
        "checksum missmatch (file change by other user?)",
        "detected modified configuration - file changed by other user? Try again.",
    ],
)
def test_a_stale_digest_is_no_refusal(text: str) -> None:
    assert isinstance(_pve_words.refused(error(500, text), "101"), ChangedError)
    assert _pve_words.sure(error(500, text))


@pytest.mark.parametrize("status", [0, 502, 503, 504, 596])
def test_what_may_have_arrived(status: int) -> None:
    assert _pve_words.lost(ApiError("x", status=status))
    assert not _pve_words.sure(ApiError("x", status=status))


@pytest.mark.parametrize("status", [401, 403, 595])
def test_what_surely_did_nothing(status: int) -> None:
    assert _pve_words.sure(ApiError("x", status=status))
    assert not _pve_words.lost(ApiError("x", status=status))


def test_a_guest_that_is_elsewhere() -> None:
    text = "Configuration file 'nodes/pve1/qemu-server/110.conf' does not exist"
    assert _pve_words.moved(error(500, text))
    assert not _pve_words.moved(error(500, "VM is locked (backup)"))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "start failed: command '/usr/bin/kvm -id 1 -object secret,data=S3cret' failed: timeout",
            "start failed: command '/usr/bin/kvm ...' failed: timeout",
        ),
        (
            "start failed: command '/usr/bin/kvm -name '\\''a b'\\'' -object secret,data=S3cret",
            "start failed: command '/usr/bin/kvm ...' failed",
        ),
        ("start failed: QEMU exited with code 1", "start failed: QEMU exited with code 1"),
    ],
)
def test_what_was_run_is_told_without_its_arguments(said: str, told: str) -> None:
    """They hold the guest's `args`, and what is told goes into the journal."""
    assert _pve_words.without_arguments(said) == told
    assert "S3cret" not in str(proxmox_ssh._failed("qm", ExecResult(255, b"", said.encode())))
