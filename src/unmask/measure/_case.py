"""One benchmark with all that can be read off it, as the diagnoses ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from unmask.measure import _alone, _place, noise, reference
from unmask.measure._figures import Answer, Figures
from unmask.measure._words import against, percent, rate
from unmask.measure.noise import Noise
from unmask.measure.statistics import Series
from unmask.model.bench import (
    FORCED,
    MASKED,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    BenchResult,
    Ended,
    Tool,
)

FORCED_DIED = "Forced to use AES instructions, it died of an illegal instruction (SIGILL)."
_WORTH = 1.3
"""ChaCha20-Poly1305 against AES-GCM, from which it is worth saying that it is faster."""


class Case:
    """A machine's benchmark, and that of its node where there is one."""

    def __init__(self, result: BenchResult, node: BenchResult | None = None) -> None:
        self.result = result
        self.node = node
        self.figures = Figures(result)
        environment = result.environment
        self.foreign = _place.foreign(environment)
        self.emulation = _place.emulated(environment)
        self.lists_aes = _place.lists(environment, "aes")
        """By the kernel's own list; None where it was not read."""
        self.lists_pclmulqdq = _place.lists(environment, "pclmulqdq")
        self.shows_aes = _place.shows(result, "aes")
        """The same, by OpenSSL's eyes where the kernel's list was not read."""
        self.nested = _place.nested(result, node)
        self.nothing = _alone.nothing(result)
        self.codeless = _place.without_aes_code(result)
        self.override = _place.override(result)

    @cached_property
    def noise(self) -> Noise:
        """Return how disturbed it was."""
        return noise.judge(self.result)

    @cached_property
    def kernel(self) -> tuple[Answer, str]:
        """Return whether the kernel uses AES instructions, and the sentence that says why."""
        told, text = _alone.kernel_drivers(self.result)
        return (told, text) if told is not Answer.UNTOLD else _alone.kernel_rates(self.result)

    @cached_property
    def alone(self) -> Answer:
        """Return what the plain rate says by itself."""
        return _alone.openssl(self.figures.best(), arch=_place.arch(self.result.environment))

    @cached_property
    def beyond_software(self) -> bool:
        """Return whether the plain rate is twice what the fastest software has been seen to do."""
        best = self.figures.best()
        return best is not None and best.per_second >= _alone.SURELY_HARDWARE

    @cached_property
    def node_has_aes(self) -> bool | None:
        """Return whether the node's CPU has AES-NI; None where that is not known."""
        return _place.shows(self.node, "aes") if self.node else None

    @cached_property
    def node_name(self) -> str:
        """Return the name of the node's CPU; "" where it was not read."""
        seen = _place.cpu(self.node.environment) if self.node else None
        return seen.model_name if seen else ""

    @cached_property
    def hider(self) -> str:
        """Return who hides a flag from the machine."""
        virtual = _place.virtual(self.result.environment)
        return "Something other than a hypervisor" if virtual is False else "The hypervisor"

    @cached_property
    def sigill(self) -> bool:
        """Return whether forcing AES-NI ended in an illegal instruction."""
        other = self.figures.other
        if any(self.figures.get(name, FORCED) for name in other):
            return False
        return self.figures.illegal((*other, *self.figures.gcm))

    @cached_property
    def crawls(self) -> bool:
        """Return whether AES-NI was executed and was slower than any silicon is with it."""
        names = (*self.figures.gcm, *self.figures.other)
        runs = [one for one in self.figures.all if one.algorithm in names and one.rate]
        executed = any(one.setting == FORCED for one in runs)
        executed |= bool(runs) and "aes" in _place.capabilities(self.result)
        fastest = max((one.per_second for one in runs), default=0.0)
        return executed and fastest <= _alone.SURELY_SOFTWARE

    @cached_property
    def crashed(self) -> bool:
        """Return whether the plain run itself died of an illegal instruction."""
        plain = [one for one in self.result.samples if one.setting == PLAIN]
        dead = any(one.ended is Ended.ILLEGAL for one in plain)
        return dead and not any(one.rate is not None for one in plain)

    @cached_property
    def version(self) -> str:
        """Return what the library calls itself; "OpenSSL" where it was not told."""
        return _place.library(self.result.environment).version or "OpenSSL"

    @cached_property
    def model_name(self) -> str:
        """Return the CPU's name; "" where it was not read."""
        seen = _place.cpu(self.result.environment)
        return seen.model_name if seen else ""

    @cached_property
    def hidden_from_openssl(self) -> tuple[str, ...]:
        """Return flags that the node's OpenSSL sees and this one does not, which AES code asks."""
        if self.node is None:
            return ()
        here, there = _place.capabilities(self.result), _place.capabilities(self.node)
        if not (here and there):
            return ()
        wanted = ("avx", "movbe", "avx2", "vaes", "vpclmulqdq", "avx512f", "avx512vl")
        return tuple(flag for flag in wanted if flag in there - here)

    def plain(self) -> str:
        """Return the name of the algorithm to speak of: GCM where it was measured."""
        names = (*self.figures.gcm, *self.figures.other)
        measured = [name for name in names if self.figures.get(name)]
        longest = [name for name in measured if "-256-" in name]
        return (longest or measured or ["AES"])[0]

    def evidence(self, *settings: str) -> tuple[str, ...]:
        """Return figures against the plain ones, the flags, and what else bears on it."""
        lines = []
        names = (*self.figures.gcm, *self.figures.other)
        for setting in settings or (MASKED, WITHOUT_PCLMULQDQ, FORCED):
            upper, lower = (FORCED, PLAIN) if setting == FORCED else (PLAIN, setting)
            lines += [against(ratio) for ratio in self.figures.ratios(names, upper, lower)]
        if FORCED in (settings or (FORCED,)) and self.figures.illegal(names):
            lines.append(FORCED_DIED)
        if not lines:
            lines = [f"{one.algorithm}: {rate(one.per_second)}." for one in self._plain_figures()]
        return (*lines, *self.circumstances())

    def circumstances(self) -> tuple[str, ...]:
        """Return what is known beside the figures."""
        lines = [self._flags()] if self.lists_aes is not None else []
        if self.override:
            lines.append(f"The environment sets {self.override}.")
        if self.kernel[1]:
            lines.append(self.kernel[1])
        lines += self._chacha()
        lines += [f"{name}: {note}." for name, note in self._notes()]
        if self.node:
            lines += [share.sentence for share in reference.shares(self.result, self.node)]
        return (*lines, *self.noise.reasons)

    def _plain_figures(self) -> list[Series]:
        names = (*self.figures.gcm, *self.figures.other)
        return [one for name in names if (one := self.figures.get(name))]

    def _notes(self) -> Iterator[tuple[str, str]]:
        """Yield what has to be known of plain AES figures: small blocks, an engine, old code."""
        for one in self.figures.all:
            if one.setting == PLAIN and one.rate and one.algorithm.startswith("aes"):
                yield from ((one.algorithm, note) for note in one.notes)

    def _flags(self) -> str:
        listed = {"aes": self.lists_aes, "pclmulqdq": self.lists_pclmulqdq}
        shown = [flag for flag, there in listed.items() if there]
        lacking = [flag for flag, there in listed.items() if there is False]
        if not shown:
            word = "neither" if len(lacking) > 1 else "no"
            return f"The kernel lists {word} {' nor '.join(lacking)}."
        return f"The kernel lists {', not '.join([' and '.join(shown), *lacking])}."

    def _chacha(self) -> list[str]:
        other = self.figures.get("chacha20-poly1305")
        gcm = self.figures.get("aes-256-gcm") or self.figures.get("aes-128-gcm")
        if not other or not gcm or other.per_second < gcm.per_second * _WORTH:
            return []
        times = other.per_second / gcm.per_second
        figure = rate(other.per_second)
        return [f"chacha20-poly1305 does {figure}, {times:.1f} times what {gcm.algorithm} does."]

    def steal(self) -> float:
        """Return the share of time that the host gave to others in plain runs, 0 to 1."""
        told = [one.steal for one in self.figures.all if one.setting == PLAIN]
        return max((one for one in told if one is not None), default=0.0)

    def of_node(self) -> float | None:
        """Return the share of the node's speed of the algorithm to speak of, where comparable."""
        if self.node is None:
            return None
        name = self.plain()
        found = [one for one in reference.shares(self.result, self.node) if one.algorithm == name]
        return found[0].share if found and not found[0].differs else None

    def measured(self) -> bool:
        """Return whether OpenSSL gave any figure."""
        return any(one.tool is Tool.OPENSSL and one.rate for one in self.figures.all)

    def share_text(self) -> str:
        """Return "13 % of this node's speed"; "" where the node was not measured."""
        share = self.of_node()
        return f"{percent(share)} of this node's speed" if share is not None else ""
