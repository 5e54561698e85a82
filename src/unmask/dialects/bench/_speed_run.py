"""One run of `openssl speed` among whatever else was printed or pasted with it."""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass, replace
from itertools import pairwise

from unmask.dialects.bench import _speed_lines, openssl_version
from unmask.dialects.bench._ending import ILLEGAL, KILLED, missing_program
from unmask.dialects.bench._screen import sentence
from unmask.dialects.bench._speed_lines import Row, Timed
from unmask.dialects.bench._speed_names import algorithm as spelled
from unmask.model.bench import Ended

RUNS = 100
"""Runs of one page that are read; the rest is left."""

_COMMAND = re.compile(
    r"(?:^|[#$%>])[ ]*(?:[\w./=~+-]{1,80}[ ]+){0,8}?[\w./-]{0,80}openssl(?:\.exe)?[ ]+speed\b"
    r"(?P<options>[^\n]{0,300})",
    re.MULTILINE,
)
_ENGINE = re.compile(r'\bengine "(?P<engine>[^"\n]{1,40})" set\.', re.IGNORECASE)
_NO_ENGINE = re.compile(
    r'\binvalid engine "([^"\n]{1,40})"|^/dev/crypto not present, not enabling (devcrypto) engine',
    re.IGNORECASE | re.MULTILINE,
)
_ENGINE_OPTION = re.compile(r" -engine (?P<engine>[\w./-]{1,40})")
_ELAPSED = re.compile(r"You have chosen to measure elapsed time| -elapsed\b")
_FORKED = re.compile(r"^Forked child (?P<child>\d{1,5})$", re.MULTILINE)
_TOGETHER = re.compile(r"^(\+D[TN]:[^\n]{1,120})\n(?:\1\n){1,1000}", re.MULTILINE)
"""Children of `-multi` where only the error output is there: each begins before any has ended."""
_START = re.compile(
    r"^(?:You have chosen to measure|Doing |\+D[TN]:|Forked child 0$|(?:OpenSSL|LibreSSL) [\d(]"
    r'|version: \d|[Ee]ngine "|[Ii]nvalid engine ")',
    re.MULTILINE,
)
_BROKEN = re.compile(r"cipher operation failed|^EVP error", re.MULTILINE)

_REFUSALS = (
    (re.compile(r"(?P<name>[\w./+-]{1,60}) is an unknown cipher or digest"), "does not know {}"),
    (re.compile(r"[Uu]nknown algorithm '?(?P<name>[\w./+-]{1,60})"), "does not know {}"),
    (re.compile(r"(?P<name>[\w./+-]{1,60}) is not an AEAD cipher"), "takes {} for no AEAD cipher"),
    (re.compile(r"[Ee]rror: bad option or value"), "does not know the algorithm or an option"),
    (
        re.compile(r"[Uu]nknown option:? ?'?(?P<option>-[\w-]{1,30})?|Option unknown option"),
        "does not know an option",
    ),
    (re.compile(r"[Ii]nvalid command|is an invalid command"), "has no command `speed`"),
    (
        re.compile(r"Error setting cipher|Couldn't init the context|[Ff]ailed to set the key"),
        "refuses the algorithm",
    ),
)


@dataclass(frozen=True, slots=True)
class Run:
    """What one run has printed."""

    text: str
    timed: tuple[Timed, ...] = ()
    rows: tuple[Row, ...] = ()
    version: str = ""
    engine: str = ""
    refused_engines: tuple[str, ...] = ()
    elapsed: bool = False
    processes: int = 1
    died: Ended = Ended.WELL
    """ILLEGAL or KILLED where a shell said so behind its last line."""
    death: str = ""
    """In what words."""
    refusal: tuple[Ended, str] | None = None
    """Why it measured nothing, where it says so."""
    refused: str = ""
    """The algorithm that it refused, in our spelling."""
    broken: str = ""
    """Why none of its figures is one; "" where nothing says so."""

    @property
    def blank(self) -> bool:
        """Whether nothing in it is `openssl speed`'s."""
        return not (self.timed or self.rows or self.engine or self.refusal or self.elapsed)


def split(text: str) -> list[Run]:
    """Return the runs in readable text, in order; one, perhaps blank, where there is none."""
    edges = [*sorted({0, *_edges(text)} - {len(text)})[:RUNS], len(text)]
    runs = [read(text[start:end]) for start, end in pairwise(edges)]
    said = [run for run in runs if not run.blank]
    version = next((run.version for run in runs if run.version), "")
    if said:
        return [run if run.version else replace(run, version=version) for run in said]
    return [read(text)]


def _edges(text: str) -> list[int]:
    """Return where runs begin: at command lines, between headings, and where counts start anew."""
    commands = [
        match.start()
        for match in _COMMAND.finditer(text)
        if not ILLEGAL.search(match[0]) and not KILLED.search(match[0])
    ]
    edges = list(commands)
    headings = list(_speed_lines.HEADING.finditer(text))
    for first, second in pairwise(headings):
        if bisect(commands, first.start()) < bisect(commands, second.start()):
            continue
        start = _START.search(text, first.end(), second.start())
        edges.append(start.start() if start else second.start())
    return edges + _repeats(text, sorted(edges))


def _repeats(text: str, edges: list[int]) -> list[int]:
    """Return where an algorithm and block is begun that this run has begun already."""
    if _FORKED.search(text) or _TOGETHER.search(text):  # children begin the same at once
        return []
    found: list[int] = []
    seen: set[tuple[str, str]] = set()
    passed = 0
    for match in _speed_lines.BEGUN.finditer(text):
        if bisect(edges, match.start()) > passed:
            passed = bisect(edges, match.start())
            seen.clear()
        key = (match["name"] or match["mr_name"], match["block"] or match["mr_block"])
        if key in seen:
            found.append(match.start())
            seen.clear()
        seen.add(key)
    return found


def read(text: str) -> Run:
    """Return the one run that `text` is."""
    command = _COMMAND.search(text)
    options = command["options"].split("Doing ")[0] if command else ""
    timed = _speed_lines.timed(text)
    refused_engines = tuple(
        dict.fromkeys((m[1] or m[2]).lower() for m in _NO_ENGINE.finditer(text))
    )
    engine = _ENGINE.search(text) or _ENGINE_OPTION.search(options)
    name = engine["engine"].lower() if engine else ""
    refusal, refused = _refusal(text)
    died, death = _death(text, timed)
    return Run(
        text=text,
        timed=timed,
        rows=_speed_lines.rows(text),
        version=openssl_version.version(text).version,
        engine="" if name in refused_engines else name,
        refused_engines=refused_engines,
        elapsed=bool(_ELAPSED.search(text) or "-elapsed" in options),
        processes=_processes(text),
        died=died,
        death=death,
        refusal=refusal,
        refused=refused,
        broken=_broken(text),
    )


def _processes(text: str) -> int:
    """Return how many children worked at once; 1 where there were none."""
    forked = max((int(match["child"]) for match in _FORKED.finditer(text)), default=0)
    together = max((match[0].count("\n") for match in _TOGETHER.finditer(text)), default=1)
    return max(1 + forked, together)


def _broken(text: str) -> str:
    return "the library says that the operation it timed has failed" if _BROKEN.search(text) else ""


def _death(text: str, timed: tuple[Timed, ...]) -> tuple[Ended, str]:
    """Return how the shell says that the run died: behind the last count that it began."""
    if timed and timed[-1].count is not None:
        return Ended.WELL, ""  # it lived on to print a count: somebody else died
    begun = [match.end() for match in _speed_lines.BEGUN.finditer(text)]
    behind = text[begun[-1] :] if begun else text
    if ILLEGAL.search(behind):
        return Ended.ILLEGAL, "killed by an illegal instruction (SIGILL)"
    killed = KILLED.search(behind)
    return (Ended.KILLED, f"killed: {killed['word']}") if killed else (Ended.WELL, "")


def _refusal(text: str) -> tuple[tuple[Ended, str] | None, str]:
    """Return why nothing was measured, where the text says it, and the algorithm that it names."""
    for pattern, words in _REFUSALS:
        match = pattern.search(text)
        if match:
            name = spelled(match.groupdict().get("name") or "")
            return (Ended.UNSUPPORTED, f"this openssl {words.format(name)}"), name
    missing = missing_program(text)
    if missing:
        return (Ended.FAILED, sentence(missing)), ""
    return None, ""
