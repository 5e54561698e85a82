"""How much of its speed a workload keeps, and where that figure comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unmask.crypto.consumers import consumers
from unmask.crypto.outlook import judge
from unmask.crypto.sentence import percent
from unmask.model.case import GuestCase
from unmask.model.cpu import State
from unmask.model.outlook import Outlook, Status
from unmask.rules import _gain
from unmask.rules._gain import Gain

AES = ("aes", "pclmulqdq")


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of the speed that is left."""

    factor: float
    """0 to 1."""
    sentence: str
    """The same for people, with its origin."""


def kept(case: GuestCase, outlook: Outlook, gain: Gain) -> Rate | None:
    """Return what is kept of the rate that can be reached here; None where nobody measured it."""
    if gain.emulated or outlook.status is Status.UNKNOWN:
        return None
    if outlook.factor is not None and (outlook.measured_here or not gain.lacking):
        share = f"It keeps {percent(outlook.factor)} of the rate that it would have"
        return Rate(outlook.factor, f"{share} ({outlook.factor_origin}).")
    if outlook.factor is not None and not gain.wanted:
        share = f"It keeps {percent(outlook.factor)} of the rate that such a CPU gives"
        return Rate(outlook.factor, f"{share} ({outlook.factor_origin}).")
    reach = gain.reach
    if reach and outlook.of_best and reach.of_best:
        factor = min(1.0, outlook.of_best / reach.of_best)
        origin = f"{outlook.factor_origin}; {reach.factor_origin}"
        share = f"It keeps {percent(factor)} of the rate that this host's CPU could give it"
        return Rate(factor, f"{share} ({origin}).")
    return _like_openssl(case, outlook)


def _like_openssl(case: GuestCase, outlook: Outlook) -> Rate | None:
    """Return what OpenSSL keeps in the same mode, where that fares alike.

    Software that uses no instruction is compared with an OpenSSL that sees none.
    """
    openssl = consumers()["openssl"]
    consumer = consumers()[outlook.consumer]
    if consumer is openssl or outlook.cipher not in openssl.paths:
        return None
    view = _gain.seen_by(case, consumer)
    if outlook.status is Status.SOFTWARE:
        view = replace(view, states={**view.states, **dict.fromkeys(AES, State.HIDDEN)})
    other = judge(openssl, view, cipher=outlook.cipher)
    if other.status is not outlook.status or other.factor is None:
        return None
    return Rate(
        other.factor,
        f"What it loses was not measured itself; OpenSSL keeps {percent(other.factor)} in the "
        f"same mode ({other.factor_origin}).",
    )
