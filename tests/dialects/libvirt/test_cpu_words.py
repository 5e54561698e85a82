"""A <cpu> in a few words."""

from __future__ import annotations

import pytest

from unmask.dialects.libvirt.cpu_words import brief

FEATURES = "<feature policy='require' name='aes'/><feature name='avx'/>"
OTHERS = "<feature policy='disable' name='vmx'/><feature policy='optional' name='svm'/>"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            f"<cpu>\n <model>Westmere</model>\n <topology cores='1'/>{FEATURES}{OTHERS}</cpu>",
            "Westmere +aes +avx -vmx ?svm",
        ),
        ("<cpu><model>qemu64</model></cpu>", "qemu64"),
        ("<cpu mode='host-passthrough' check='none'/>", "host-passthrough"),
        (f"<cpu mode='host-model'><model/>{FEATURES}</cpu>", "host-model +aes +avx"),
        ("<cpu/>", "custom"),
        ("<cpu mode='custom'>\n  <model>", "<cpu mode='custom'> <model>"),
        ("kvm64,flags=+aes", "kvm64,flags=+aes"),
        ("host", "host"),
    ],
)
def test_words(value: str, words: str) -> None:
    assert brief(value) == words
