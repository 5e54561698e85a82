"""What CPU models amount to on a host, as masks of OpenSSL's."""

from __future__ import annotations

import pytest

from unmask.benches import _what_if
from unmask.cpu import catalogue
from unmask.crypto import ia32cap
from unmask.errors import UsageError
from unmask.model.bench import PLAIN
from unmask.model.cpu import HostCpu

VERSION = "OpenSSL 3.0.19"


def host() -> HostCpu:
    model = catalogue.find("Icelake-Server")
    assert model is not None
    return HostCpu("x86_64", model.flags | {"constant_tsc"}, "GenuineIntel", complete=True)


def test_each_model_shows_openssl_its_own_flags() -> None:
    names = ("kvm64", "x86-64-v2", "x86-64-v2-AES", "Westmere", "x86-64-v3", "Haswell", "host")
    found = {model.name: model for model in _what_if.models(names, host(), VERSION)}
    assert list(found) == list(names)
    shown = {name: model.mask.flags for name, model in found.items()}
    assert not {"aes", "pclmulqdq", "ssse3"} & shown["kvm64"]
    assert {"aes", "pclmulqdq"} & shown["x86-64-v2-AES"] == {"aes"}
    assert {"aes", "pclmulqdq", "avx"} & shown["Westmere"] == {"aes", "pclmulqdq"}
    assert {"aes", "pclmulqdq", "avx2"} & shown["x86-64-v3"] == {"aes", "avx2"}
    assert {"aes", "pclmulqdq", "avx2", "vaes"} & shown["Haswell"] == {"aes", "pclmulqdq", "avx2"}
    assert found["host"].mask.value == ""
    assert "vaes" in shown["host"]


def test_runs_are_under_each_mask_and_as_it_is() -> None:
    found = _what_if.models(("kvm64", "host"), host(), VERSION)
    runs = list(_what_if.runs(found, VERSION, ("aes-256-gcm", "chacha20-poly1305"), 0.3))
    assert [(run.algorithm, run.setting) for run in runs] == [
        (algorithm, setting)
        for algorithm in ("aes-256-gcm", "chacha20-poly1305")
        for setting in (PLAIN, "kvm64", "host")
    ]
    assert [bool(run.variables) for run in runs] == [False, True, False] * 2
    assert not any("-elapsed" in run.words for run in runs)


def test_custom_models_are_those_of_the_cluster() -> None:
    text = "cpu-model: fast\n    flags +aes;+pclmulqdq\n    reported-model kvm64\n"
    custom = _what_if.custom_models(text, host())
    (model,) = _what_if.models(("custom-fast",), host(), VERSION, custom)
    assert {"aes", "pclmulqdq"} <= model.mask.flags
    assert "ssse3" not in model.mask.flags


@pytest.mark.parametrize("name", ["no-such-model", "custom-fast", "Haswell-v99"])
def test_what_is_no_model_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no such CPU model"):
        _what_if.models((name,), host(), VERSION)


def test_an_old_library_is_measured_without_masks() -> None:
    version = "LibreSSL 3.8.2"
    found = _what_if.models(("kvm64",), host(), version)
    runs = list(_what_if.runs(found, version, ("aes-256-gcm",), 0.3))
    assert [run.setting for run in runs] == [PLAIN]
    assert list(_what_if.doubts(found)) == [f"kvm64: {ia32cap.refusal(version)}"]
