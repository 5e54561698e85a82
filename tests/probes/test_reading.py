"""From an answer to what is known, missing and partial, and back from a saved form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support import probe_case
from support.probe_shell import MARK, output
from unmask.dialects.records import codec
from unmask.errors import InputError
from unmask.model.inside import CryptoDriver, Inside
from unmask.model.reading import Known, Missing
from unmask.probes import _reading
from unmask.probes._bounds import bounded
from unmask.probes._probe import Shell

PROBES = _reading.probes()


def test_an_empty_answer_is_missing_everywhere() -> None:
    inside = _reading.read(b"command not found\n", MARK, PROBES)
    assert inside.root is None
    for probe in PROBES:
        assert getattr(inside, probe.name) == Missing("the guest's answer ended before it")
    assert inside.bitlocker == Missing("nobody has looked inside the guest")
    assert inside.partial == ()


def test_what_is_missing_says_why() -> None:
    raw = f"\n{MARK} user\n1000\n\n{MARK} signatures\n\n{MARK} = denied\n"
    raw += f"\n{MARK} zfs\n\n{MARK} = skipped\n"
    raw += f"\n{MARK} geli\n\n{MARK} = late\n\n{MARK} system\nLinux\n"
    inside = _reading.read(raw.encode(), MARK, PROBES)
    assert inside.root is False
    assert inside.signatures == Missing("only root may read it", "root in the guest")
    assert inside.zfs == Missing("the guest took too long over what came before it")
    assert inside.geli == Missing("the command in the guest did not end in time")
    assert inside.system.value.kernel_name == "Linux"
    assert [item.reason for item in inside.partial] == ["the guest's answer ended in it"]
    assert inside.ssh == Missing("the guest's answer ended before it")


def test_what_is_partial_says_so() -> None:
    text = f"\n{MARK} ./etc/openvpn/a.conf\nclient\n\n{MARK} .!/etc/openvpn/b.conf\n"
    inside = _reading.read(output(("openvpn", text), user="7"), MARK, PROBES)
    assert [config.config for config in inside.openvpn.value] == ["/etc/openvpn/a.conf"]
    assert [item.reason for item in inside.partial] == [
        "without root it lacks configurations that only root may read",
        "the user may not read 1 file of it",
    ]
    assert {item.needs for item in inside.partial} == {"root in the guest"}
    assert inside.system == Missing("it was not asked for")


def test_root_is_not_told_that_root_is_needed() -> None:
    assert _reading.read(output(("openvpn", "")), MARK, PROBES).partial == ()


def test_an_administrator_is_what_windows_needs() -> None:
    raw = f"\n{MARK} user\n1\n\n{MARK} bitlocker\n\n{MARK} = denied\n\n{MARK} end\n".encode()
    inside = _reading.read(raw, MARK, _reading.probes(Shell.POWERSHELL))
    assert inside.bitlocker == Missing(
        "only root may read it", "an administrator's rights in the guest"
    )


def test_the_driver_that_serves() -> None:
    drivers = (
        CryptoDriver("xts(aes)", "xts(ecb(aes-generic))", priority=100),
        CryptoDriver("xts(aes)", "__xts-aes-aesni", priority=500, internal=True),
        CryptoDriver("xts(aes)", "xts-aes-aesni", priority=401),
    )
    inside = Inside(crypto_drivers=Known(drivers))
    serving = inside.serving("xts(aes)")
    assert serving is not None
    assert serving.driver == "xts-aes-aesni"
    assert inside.serving("gcm(aes)") is None


@pytest.mark.parametrize("number", range(12))
def test_what_was_read_survives_being_saved(number: int) -> None:
    readings: dict[str, Any] = {}
    for module, probe in probe_case.probes().items():
        cases = probe_case.cases(module)
        try:
            value = bounded(probe.parse(probe_case.section(cases[number % len(cases)])))
        except InputError as error:
            readings[probe.name] = Missing(str(error))
        else:
            readings[probe.name] = Known(value)
    inside = probe_case.filled({"root": True, **readings})
    text = json.dumps(codec(Inside).dump(inside))
    assert codec(Inside).load(json.loads(text)) == inside
