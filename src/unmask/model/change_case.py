"""A guest before and after a change of its CPU, for the rules on what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.case import GuestCase


@dataclass(frozen=True, slots=True)
class ChangeCase:
    """What a rule on changes looks at."""

    now: GuestCase
    """The guest as it is."""
    then: GuestCase
    """The same after a stop and start with the new CPU: nothing pending, nobody has looked inside
    since. What was read inside before stays, its CPU aside."""
    flags: tuple[str, ...] = ()
    """What the operator asks for by name beside a model, in our spelling: "+aes" gives "aes"."""
    custom_model: str = ""
    """The name of a custom model that has to be made first; "" for none."""
