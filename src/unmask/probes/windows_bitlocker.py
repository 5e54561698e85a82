"""Windows: BitLocker's method and state for each volume, never its protectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unmask.model.inside_storage import BitLockerVolume
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import Section
from unmask.probes._windows import record, text_of, whole

# The WMI class of the BitLocker driver (win32-encryptablevolume): its numbers do not depend on the
# language, unlike what manage-bde prints, and its answers hold no recovery password.
COMMAND = """\
$place = 'root\\CIMV2\\Security\\MicrosoftVolumeEncryption'
$all = @()
foreach ($v in Get-CimInstance -Namespace $place -ClassName Win32_EncryptableVolume) {
    $method = (Invoke-CimMethod -InputObject $v -MethodName GetEncryptionMethod).EncryptionMethod
    $state = (Invoke-CimMethod -InputObject $v -MethodName GetConversionStatus).ConversionStatus
    $locked = (Invoke-CimMethod -InputObject $v -MethodName GetLockStatus).LockStatus
    $all += @{ volume = $v.DriveLetter; ident = $v.DeviceID; method = $method; state = $state
        protection = $v.ProtectionStatus; locked = $locked }
}
show @{ volumes = @($all) }
"""

_METHODS = {
    0: "none",
    1: "AES-CBC-128+diffuser",
    2: "AES-CBC-256+diffuser",
    3: "AES-CBC-128",
    4: "AES-CBC-256",
    5: "hardware",
    6: "XTS-AES-128",
    7: "XTS-AES-256",
}
"""GetEncryptionMethod of Win32_EncryptableVolume; the vendor's documentation."""
_STATES = {
    0: "decrypted",
    1: "encrypted",
    2: "encrypting",
    3: "decrypting",
    4: "paused",
    5: "paused",
}


def parse(section: Section) -> tuple[BitLockerVolume, ...]:
    """Return the volumes; none where Windows has no BitLocker.

    Raises:
        InputError: Windows does not tell.
    """
    values = record(section).get("volumes")
    listed = values if isinstance(values, list) else [values]
    return tuple(_volume(entry) for entry in listed[:200] if isinstance(entry, dict))


def _volume(entry: dict[str, Any]) -> BitLockerVolume:
    protection, locked = whole(entry, "protection"), whole(entry, "locked")
    return BitLockerVolume(
        volume=text_of(entry, "volume") or text_of(entry, "ident"),
        method=_word(_METHODS, entry, "method"),
        status=_word(_STATES, entry, "state"),
        protected=None if protection in (None, 2) else protection == 1,
        locked=None if locked is None else locked == 1,
    )


def _word(words: Mapping[int, str], entry: dict[str, Any], key: str) -> str:
    value = whole(entry, key)
    return "" if value is None else words.get(value, "")


PROBE = Probe("bitlocker", COMMAND, parse, needs_root=True, shell=Shell.POWERSHELL)
