"""What an operator writes of a guest's workloads: tags, lines in notes, the configuration file.

    luks, no tls, zfs(aes-256-gcm), backup(restic)

A word is a kind of workload; "no" in front denies it, and parentheses name the cipher or the
software. In notes a line begins with "unmask:"; a tag, which can hold neither blanks nor
parentheses, is written `unmask-luks`, `unmask-no-tls` or `unmask-zfs-aes-256-gcm`. A word that is
no kind is said in a remark and counts for nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from unmask.dialects.excerpt import excerpt
from unmask.model.cpu import Remark, RemarkKind
from unmask.model.visit import Declaration
from unmask.model.workload import WorkloadKind

KINDS = tuple(kind.value for kind in WorkloadKind)
MOST = 50
"""Declarations of one place; there are fewer kinds."""
REMARKS = 5
"""Words of one place that are complained of one by one."""
DETAIL = 60
"""Characters of what stands in parentheses."""

_ALSO = {"dm-crypt": "luks", "dmcrypt": "luks", "https": "tls", "ssl": "tls", "smb": "samba"}
"""Words that mean a kind as well."""
_WORD = re.compile(
    r"(?P<no>no[ \t]+|no-|!)?(?P<kind>[a-z][a-z0-9_-]*)[ \t]*(?:\((?P<detail>[^()]*)\))?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[,;]+(?![^()]*\))")
_LINE = re.compile(r"^[ \t>*#-]*unmask:[*_`]*(?P<words>.*)$", re.IGNORECASE | re.MULTILINE)
_HTML = re.compile(r"<[^<>\n]{1,300}>")
"""Notes of Proxmox VE may hold HTML."""
_TAG = "unmask-"
_PLAIN = re.compile(r"[A-Za-z0-9][\w .,+/@-]*")


@dataclass(frozen=True, slots=True)
class Declared:
    """What was declared in one place or several."""

    declarations: tuple[Declaration, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def __add__(self, other: Declared) -> Declared:
        return Declared(self.declarations + other.declarations, self.remarks + other.remarks)


NOTHING = Declared()


def parse(words: str, where: str) -> Declared:
    """Return what a list like "luks, no tls, zfs(aes-256-gcm)" declares.

    Args:
        words: Separated by commas or semicolons.
        where: Where they stand, for people: "its notes", "unmask.toml".
    """
    found: list[Declaration] = []
    strange: list[str] = []
    for text in _BETWEEN.split(words)[: 4 * MOST]:
        word = text.strip().rstrip(".")
        if not word:
            continue
        match = _WORD.fullmatch(word)
        kind = _kind(match["kind"]) if match else ""
        if not match or not kind:
            strange.append(word)
            continue
        found.append(Declaration(kind, not match["no"], where, _detail(match["detail"] or "")))
    return Declared(tuple(dict.fromkeys(found))[:MOST], _remarks(strange, where))


def of_notes(text: str, where: str = "its notes") -> Declared:
    """Return what the lines "unmask: ..." of a guest's notes declare."""
    lines = [match["words"] for match in _LINE.finditer(_plain(text))]
    return parse(",".join(lines[:MOST]), where) if lines else NOTHING


def _plain(notes: str) -> str:
    """Return notes without HTML's tags and entities: editors write a blank as "&nbsp;"."""
    return html.unescape(_HTML.sub(" ", notes)).replace("\u00a0", " ")


def of_tags(tags: Iterable[str]) -> Declared:
    """Return what tags like `unmask-no-luks` declare; other tags are none of ours."""
    found = NOTHING
    for tag in tags:
        if tag.lower().startswith(_TAG):
            found += _of_tag(tag)
    return Declared(found.declarations[:MOST], found.remarks[:REMARKS])


def _of_tag(tag: str) -> Declared:
    """Return what one tag declares: a kind, and the cipher or software behind another "-"."""
    rest = tag[len(_TAG) :].lower()
    present = not rest.startswith("no-")
    word, _, detail = rest.removeprefix("no-").partition("-")
    where = f"the tag {excerpt(tag, DETAIL)}"
    kind = _kind(rest.removeprefix("no-")) or _kind(word)
    if not kind:
        return Declared((), _remarks([tag], "the tags"))
    said = "" if _kind(rest.removeprefix("no-")) else detail
    return Declared((Declaration(kind, present, where, _detail(said)),))


def _kind(word: str) -> str:
    lower = word.lower()
    return lower if lower in KINDS else _ALSO.get(lower, "")


def _detail(text: str) -> str:
    """Return what stands in parentheses on one line; "" where it holds what no name is made of."""
    line = " ".join(text.split())
    return excerpt(line, DETAIL) if _PLAIN.fullmatch(line) else ""


def _remarks(strange: list[str], where: str) -> tuple[Remark, ...]:
    known = ", ".join(KINDS)
    texts = [
        f'"{excerpt(word, DETAIL)}" in {where} is no kind of workload: known are {known}.'
        for word in strange[:REMARKS]
    ]
    if len(strange) > REMARKS:
        texts.append(f"{len(strange) - REMARKS} more words in {where} are no kinds of workloads.")
    return tuple(Remark(RemarkKind.NOTE, text) for text in texts)
