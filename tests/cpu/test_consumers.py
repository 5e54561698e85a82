"""What encryption software needs of a CPU."""

from __future__ import annotations

import pytest

from unmask.cpu import catalogue
from unmask.cpu.consumers import Consumer, consumers

BY_NAME = {consumer.name: consumer for consumer in consumers()}


@pytest.mark.parametrize("consumer", consumers(), ids=lambda consumer: consumer.name)
def test_every_one_has_needs_in_our_spelling_and_an_origin(consumer: Consumer) -> None:
    models = map(catalogue.find, catalogue.names())
    everything = frozenset[str]().union(*(model.flags for model in models if model))
    assert consumer.needs
    assert set(consumer.needs) <= everything
    assert consumer.without
    assert consumer.origin
    assert consumer.verdict(consumer.needs) == "has what it needs"
    assert consumer.verdict(()).startswith(f"lacks {', '.join(consumer.needs)}: ")


def test_aes_without_pclmulqdq_is_enough_for_disks_and_not_for_openssl() -> None:
    flags = {"aes", "ssse3", "sse4_1", "popcnt"}
    disks = BY_NAME["LUKS and fscrypt on Linux (AES-XTS)"]
    openssl = BY_NAME["OpenSSL: TLS, SSH, OpenVPN (AES-GCM)"]
    assert disks.verdict(flags) == "has what it needs"
    assert openssl.verdict(flags) == "lacks pclmulqdq: about a tenth of the speed, or less"
