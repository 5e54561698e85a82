"""What answers mean: reason phrases, messages, and what comes instead of JSON."""

import pytest

from unmask.connect.proxmox_answer import (
    ApiError,
    Reply,
    Serializer,
    TransientError,
    needed,
    reason_phrase,
    refusal,
)


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("Permission check failed (/vms/101, VM.Audit)", "VM.Audit on /vms/101"),
        ("Permission check failed (/, Sys.Audit)", "Sys.Audit on /"),
        (
            "Permission check failed (/vms/1, VM.Config.CPU|VM.Config.Disk)",
            "VM.Config.CPU or VM.Config.Disk on /vms/1",
        ),
        ("Permission check failed", ""),
    ],
)
def test_a_refused_permission_names_what_it_needs(text: str, needs: str) -> None:
    assert needed(text) == needs
    assert refusal(403, text, None).needs == needs


def test_the_message_in_the_body_is_preferred_and_the_phrase_does() -> None:
    old = refusal(500, "unable to parse", {"errors": None, "message": None})
    new = refusal(500, "unable to parse", {"message": "unable to parse\nat line 3\n"})
    bare = refusal(503, "", None)
    assert str(old) == "500 unable to parse"
    assert str(new) == "500 unable to parse, at line 3"
    assert str(bare) == "503 service unavailable"


def test_bad_parameters_are_named() -> None:
    detail = {"errors": {"type": "value 'x'\nis none", "a": "b"}}
    assert str(refusal(400, "Parameter verification failed.", detail)) == (
        "400 Parameter verification failed. a: b; type: value 'x' is none"
    )


def test_texts_are_bounded() -> None:
    assert len(str(refusal(500, "x" * 10_000, None))) < 400


@pytest.mark.parametrize("status", [502, 503, 504, 595, 596])
def test_what_another_try_may_help(status: int) -> None:
    assert isinstance(refusal(status, "x", None), TransientError)
    assert not isinstance(refusal(500, "x", None), TransientError)


def test_phrases_in_utf_8_are_read_as_meant() -> None:
    assert reason_phrase("Grüße".encode().decode("latin-1")) == "Grüße"
    assert reason_phrase("caf\xe9") == "caf\xe9"
    assert reason_phrase("\u2018x\u2019") == "\u2018x\u2019"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<!DOCTYPE html><title>x", "an HTML page instead of JSON"),
        (b"  <html>", "an HTML page instead of JSON"),
        (b'{"data": [1, 2', "JSON that breaks off"),
        (b"", "an empty body"),
        (b"OK", "something that is no JSON"),
        (b"\xff\xfe", "something that is no JSON"),
        (b"[" * 200_000, "JSON that breaks off"),
        (b"[]", "JSON that Proxmox VE does not send"),
        (b'{"success": 1}', "JSON that Proxmox VE does not send"),
    ],
)
def test_what_is_no_answer_is_said_and_never_data(body: bytes, said: str) -> None:
    reply = Reply(200, "OK", body)
    with pytest.raises(ApiError, match=said):
        Serializer.loads(reply)
    assert Serializer.loads_errors(Reply(500, "x", body)) == {"errors": None, "message": None}


def test_data_is_data() -> None:
    assert Serializer.loads(Reply(200, "OK", b'{"data": [{"a": 1}]}')) == [{"a": 1}]
    assert Serializer.loads(Reply(200, "OK", b'{"data": null}')) is None
