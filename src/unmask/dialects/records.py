"""Frozen dataclasses to JSON values and back, by their type hints alone.

Knows the types that `unmask.model` is made of: dataclasses, string enumerations, `str`, `int`,
`float`, `bool`, `X | None`, `tuple[X, ...]`, `tuple[X, Y]`, `frozenset[str]` and `Reading[X]`.
Fields that hold their default are left out, sets are sorted lists, a `Known` is `{"known": value}`
and a `Missing` is `{"missing": reason, "needs": what}`. Reading is strict: nothing is coerced, but
that an integer may stand for a `float`.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from unmask.model.reading import Known, Missing


class WrongValueError(ValueError):
    """A value does not have the type that its place asks for."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.place: list[str] = []
        """Where, innermost first; grows while the error travels outwards."""

    def __str__(self) -> str:
        place = "".join(reversed(self.place)).lstrip(".")
        return f"{place}: {self.problem}" if place else self.problem


class Codec(NamedTuple):
    """Both directions for one type."""

    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]
    """Raises `WrongValueError`."""


@cache
def codec(kind: Any) -> Codec:
    """Return the codec of a type.

    Raises:
        TypeError: The type is none of those that this module knows; a bug in the model.
    """
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _enumeration(kind)
    if kind is float:
        return Codec(float, _finite)
    if kind in _WORDS:
        return Codec(_same, lambda value: _exactly(kind, value))
    if kind == frozenset[str]:
        return Codec(sorted, _string_set)
    if origin is tuple:
        return _sequence(get_args(kind))
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    raise TypeError(f"no JSON form is defined for {kind!r}")


_WORDS = {str: "a string", int: "an integer", bool: "true or false", list: "a list"}


def _same(value: Any) -> Any:
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _exactly(kind: type, value: Any) -> Any:
    # `type(...)`, not isinstance: true is not the integer 1.
    if type(value) is not kind:
        raise WrongValueError(f"{_shown(value)} is not {_WORDS[kind]}")
    return value


def _finite(value: Any) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise WrongValueError(f"{_shown(value)} is not a finite number")
    return number


def _enumeration(kind: type[StrEnum]) -> Codec:
    members = {str(member): member for member in kind}

    def load(value: Any) -> StrEnum:
        if not isinstance(value, str) or value not in members:
            raise WrongValueError(f"{_shown(value)} is none of {', '.join(members)}")
        return members[value]

    return Codec(str, load)


def _string_set(value: Any) -> frozenset[str]:
    return frozenset(_exactly(str, item) for item in _exactly(list, value))


def _sequence(parts: tuple[Any, ...]) -> Codec:
    if parts[-1] is ...:
        one = codec(parts[0])
        return Codec(
            lambda value: [one.dump(item) for item in value],
            lambda value: tuple(
                _inside(f"[{index}]", one.load, item)
                for index, item in enumerate(_exactly(list, value))
            ),
        )
    codecs = [codec(part) for part in parts]

    def load(value: Any) -> tuple[Any, ...]:
        if len(_exactly(list, value)) != len(codecs):
            raise WrongValueError(f"{_shown(value)} is not a list of {len(codecs)}")
        pairs = enumerate(zip(codecs, value, strict=True))
        return tuple(_inside(f"[{index}]", each.load, item) for index, (each, item) in pairs)

    return Codec(lambda value: [c.dump(v) for c, v in zip(codecs, value, strict=True)], load)


def _inside(place: str, load: Callable[[Any], Any], value: Any) -> Any:
    try:
        return load(value)
    except WrongValueError as error:
        error.place.append(place)
        raise


def _union(parts: tuple[Any, ...]) -> Codec:
    known = [part for part in parts if get_origin(part) is Known]
    if known and Missing in parts:
        return _reading(codec(get_args(known[0])[0]))
    (some,) = (part for part in parts if part is not type(None))
    inner = codec(some)
    return Codec(
        lambda value: None if value is None else inner.dump(value),
        lambda value: None if value is None else inner.load(value),
    )


def _reading(inner: Codec) -> Codec:
    missing = codec(Missing)

    def dump(reading: Any) -> dict[str, Any]:
        if isinstance(reading, Known):
            return {"known": inner.dump(reading.value)}
        fields = missing.dump(reading)
        return {"missing": fields.pop("reason"), **fields}

    def load(value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"known"}:
            return Known(_inside(".known", inner.load, value["known"]))
        if isinstance(value, dict) and "missing" in value and "reason" not in value:
            fields = {"reason" if key == "missing" else key: item for key, item in value.items()}
            return missing.load(fields)
        raise WrongValueError(f'{_shown(value)} has neither "known" nor "missing"')

    return Codec(dump, load)


def _record(kind: Any) -> Codec:
    hints = get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    codecs = {name: codec(hints[name]) for name in fields}
    defaults = {name: _default(field) for name, field in fields.items()}
    required = {name for name, value in defaults.items() if value is dataclasses.MISSING}

    def dump(record: Any) -> dict[str, Any]:
        values = ((name, getattr(record, name)) for name in fields)
        return {
            name: codecs[name].dump(value)
            for name, value in values
            if name in required or value != defaults[name]
        }

    def load(value: Any) -> Any:
        if not isinstance(value, dict):
            raise WrongValueError(f"{_shown(value)} is not an object")
        if strange := value.keys() - fields.keys():
            raise WrongValueError(f"unknown key {_shown(min(strange))}")
        if lacking := required - value.keys():
            raise WrongValueError(f"the key {min(lacking)!r} is missing")
        return kind(
            **{name: _inside(f".{name}", codecs[name].load, item) for name, item in value.items()}
        )

    return Codec(dump, load)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
