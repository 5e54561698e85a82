"""JUnit XML, for servers of continuous integration: each rule is a suite, each subject a test.

The format has no standard. What is written here is what GitLab and Jenkins read: GitLab shows the
class of a test as its suite, takes tests of one class and name for one and reads the text of
`failure`, `error` and `skipped` (GitLab documentation, "Unit test reports"); Jenkins reads the
first `error` or `failure` of a test and the text of `skipped` (its JUnit plugin, CaseResult).
Therefore a test's class is the rule with its title, its name is the subject's and does not come
twice, and all that a rule says of a subject is one failure.

A test passes only where something was looked at: rules about what is inside a guest are silent
where nobody has looked, and such a test is skipped.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from unmask.model.finding import About, Accepted, Finding, Severity, Skip
from unmask.model.inventory import Gap
from unmask.model.report import Document, Format
from unmask.report._subjects import Subject, Subjects
from unmask.report._text import clean
from unmask.report._xml import Element, write

GAPS = "Could not be read"
"""The suite of what could not be read, whatever rules would have said of it."""
JUDGED = (About.GUEST, About.HOST, About.CLUSTER)
NAME = 200
"""Characters of a test's name."""
INSIDE = ("CPU012", "CRY", "REQ002", "REQ003")
"""What the codes of rules begin with that judge only what was seen inside a guest."""
NOT_INSIDE = "not checked: nobody has looked inside the guest"
Key = tuple[str, str]
"""Code and subject."""


class _Said:
    """What an outcome says, by code and subject."""

    def __init__(self, document: Document) -> None:
        self.findings: defaultdict[Key, list[Finding]] = defaultdict(list)
        self.accepted: defaultdict[Key, list[Accepted]] = defaultdict(list)
        self.skips: defaultdict[Key, list[Skip]] = defaultdict(list)
        self.titles = {rule.code: rule.title for rule in document.rules}
        for finding in document.outcome.findings:
            self.findings[finding.code, finding.subject].append(finding)
            self.titles.setdefault(finding.code, finding.title)
        for item in document.outcome.accepted:
            self.accepted[item.finding.code, item.finding.subject].append(item)
            self.titles.setdefault(item.finding.code, item.finding.title)
        for skip in document.outcome.skips:
            self.skips[skip.code, skip.subject].append(skip)
            self.titles.setdefault(skip.code, "")
        self.keys = tuple(dict.fromkeys((*self.findings, *self.accepted, *self.skips)))
        self.shut = {
            case.guest.subject for case in document.cases if not case.guest.visit.inside.known
        }


def render(document: Document, width: int) -> str:  # noqa: ARG001 - XML has no width
    """Return `testsuites` with a suite for each rule that has something to look at."""
    said, subjects = _Said(document), Subjects(document)
    suites = [
        _suite(f"{code} {title}".strip(), cases, document)
        for code, title in said.titles.items()
        if (cases := list(_cases(code, title, said, subjects, document)))
    ]
    if document.inventory.gaps:
        suites.append(_suite(GAPS, list(_gaps(document.inventory.gaps)), document))
    counts = _counted([case for suite in suites for case in suite.children])
    # The schema that Jenkins's xUnit plugin goes by has no number of skipped tests here.
    del counts["skipped"]
    return write(Element("testsuites", {"name": "unmask", **counts}, suites))


def _suite(name: str, cases: Sequence[Element], document: Document) -> Element:
    started = document.run.started.removesuffix("Z")
    return Element("testsuite", {"name": name, **_counted(cases), "timestamp": started}, cases)


def _counted(cases: Sequence[Element]) -> dict[str, str]:
    tags = Counter(child.tag for case in cases for child in case.children)
    return {
        "tests": str(len(cases)),
        "failures": str(tags["failure"]),
        "errors": str(tags["error"]),
        "skipped": str(tags["skipped"]),
    }


def _cases(
    code: str, title: str, said: _Said, subjects: Subjects, document: Document
) -> Iterator[Element]:
    """Yield a test for each subject that the rule looked at, and for any other it speaks of."""
    about = next((rule.about for rule in document.rules if rule.code == code), None)
    looked_at = list(subjects.by_about[about]) if about in JUDGED else []
    known = {item.subject for item in looked_at}
    others = (subject for other, subject in said.keys if other == code and subject not in known)
    looked_at += [subjects.of(code, subject) for subject in others]
    names = _Names(f"{code} {title}".strip())
    for item in looked_at:
        key = (code, item.subject)
        yield names.case(_name(item), _outcome(key, said))


def _name(item: Subject) -> str:
    subject, name = clean(item.subject, NAME), clean(item.name, 60)
    return subject if not name or subject.endswith(name) else f"{subject} ({name})"


class _Names:
    """Makes the tests of a class, no two of one name."""

    def __init__(self, suite: str) -> None:
        # Jenkins takes what stands before the last dot for a package.
        self.suite = suite.replace(".", "_")
        self.seen: Counter[str] = Counter()

    def case(self, name: str, children: Sequence[Element]) -> Element:
        name = name or "(nameless)"
        self.seen[name] += 1
        if self.seen[name] > 1:
            name = f"{name} #{self.seen[name]}"
            self.seen[name] += 1
        return Element("testcase", {"classname": self.suite, "name": name}, children)


def _outcome(key: Key, said: _Said) -> list[Element]:
    """Return what a test ended with: a failure, else that it was skipped, else what it printed."""
    findings, skips, accepted = said.findings[key], said.skips[key], said.accepted[key]
    failed = [item for item in findings if item.problem.severity > Severity.INFO]
    notes = [item for item in findings if item.problem.severity is Severity.INFO]
    lines = [
        *(line for item in (*failed, *notes) for line in _finding(item)),
        *(_skip(item) for item in skips),
        *(_accepted(item) for item in accepted),
    ]
    if failed:
        worst = max(failed, key=lambda item: item.problem.severity)
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        told = {"type": worst.problem.severity.word, "message": worst.problem.message + more}
        return [Element("failure", told, text=lines)]
    if skips:
        return [Element("skipped", {"type": "unread"}, text=lines)]
    if accepted:
        return [Element("skipped", {"type": "accepted"}, text=lines)]
    if lines:
        return [Element("system-out", text=lines)]
    code, subject = key
    if code.startswith(INSIDE) and subject in said.shut:
        return [Element("skipped", {"type": "unread"}, text=(NOT_INSIDE,))]
    return []


def _finding(item: Finding) -> Iterator[str]:
    problem = item.problem
    sure = "" if problem.confidence != "tentative" else ", tentative"
    yield f"{problem.severity.word}{sure}: {problem.message}"
    yield from (f"- {fact}" for fact in problem.evidence)
    if problem.remedy:
        yield f"remedy: {problem.remedy}"
    if problem.command:
        yield f"command: {problem.command}"
    yield f"more: unmask explain {item.code}"


def _skip(item: Skip) -> str:
    return f"not checked: {_why(item)}"


def _accepted(item: Accepted) -> str:
    until = f" until {item.expires}" if item.expires else ""
    return f"accepted{until}: {item.reason} ({item.finding.problem.message})"


def _why(item: Gap | Skip) -> str:
    return f"{item.reason}; needs {item.needs}" if item.needs else item.reason


def _gaps(gaps: Iterable[Gap]) -> Iterator[Element]:
    """Yield a test for each thing that could not be read: an error, since nobody can judge it."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for gap in gaps:
        reasons[gap.subject].append(_why(gap))
    names = _Names(GAPS)
    for subject, why in reasons.items():
        told = {"type": "unread", "message": why[0]}
        yield names.case(clean(subject, NAME), [Element("error", told, text=why)])


FORMAT = Format(
    name="junit", summary="JUnit XML, for continuous integration: docs/ci.md", render=render
)
