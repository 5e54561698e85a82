"""`unmask models`."""

from __future__ import annotations

import json

from .conftest import Command


def test_the_table_is_of_all_models(command: Command) -> None:
    answer = command("models")
    assert (answer.code, answer.errors) == (0, "")
    for name in ("x86-64-v2-AES", "kvm64", "EPYC-Rome", "Westmere"):
        assert f"\n{name} " in answer.output
    assert "Haswell-v2" not in answer.output
    assert "\nHaswell-v2 " in command("models", "--versions").output


def test_named_models_are_shown_whole(command: Command) -> None:
    answer = command("models", "kvm64", "Haswell")
    assert answer.code == 0
    assert answer.output.startswith("kvm64\n")
    assert "\nHaswell\n" in answer.output
    assert "LUKS and fscrypt on Linux (AES-XTS): lacks aes: AES in software" in answer.output


def test_programs_get_json(command: Command) -> None:
    body = json.loads(command("models", "--format", "json", "Westmere").output)
    assert [model["name"] for model in body["models"]] == ["Westmere"]
    assert {"aes", "pclmulqdq"} <= set(body["models"][0]["flags"])
    assert len(json.loads(command("models", "--format", "json").output)["models"]) > 60


def test_an_unknown_model_is_a_usage_error(command: Command) -> None:
    answer = command("models", "Westmeer")
    assert (answer.code, answer.output) == (2, "")
    assert "did you mean Westmere" in answer.errors
