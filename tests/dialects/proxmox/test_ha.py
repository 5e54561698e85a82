"""Rules and groups of high availability: where guests may be."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import ha
from unmask.model.tie import Confinement

RULES = """\
node-affinity: db
\tnodes oak:2,elm:1
\tresources vm:101,vm:102
\tstrict 1

node-affinity: wish
\tnodes ash
\tresources ct:200

resource-affinity: apart
\tresources vm:101,ct:200,vm:104
\taffinity negative

resource-affinity: joined
\tresources vm:102,vm:104
\taffinity positive

resource-affinity: alone
\tresources vm:101
\taffinity negative

node-affinity: asleep
\tnodes ash
\tresources vm:101
\tdisable
"""
RESOURCES = "vm: 101\n\nvm: 102\n\tstate stopped\n\nct: 200\n\nvm: 104\n"


def test_where_the_rules_let_guests_be() -> None:
    found = ha.parse(RULES, RESOURCES, "")
    assert found.of("101", "lab") == (
        Confinement("db", ("elm", "oak")),
        Confinement("apart", apart=("lab/200", "lab/104")),
    )
    assert found.of("200", "lab") == (
        Confinement("wish", ("ash",), strict=False),
        Confinement("apart", apart=("lab/101", "lab/104")),
    )
    assert found.of("102", "lab")[1] == Confinement("joined", together=("lab/104",))
    assert found.of("103", "lab") == ()


def test_a_guest_that_is_ignored_is_confined_by_nothing() -> None:
    found = ha.parse(RULES, RESOURCES + "\tstate ignored\n", "")
    assert found.of("104", "lab") == ()
    assert found.of("101", "lab")[1].apart == ("lab/200",)


def test_groups_confine_those_in_them() -> None:
    groups = "group: pair\n\tnodes elm,oak:5\n\trestricted 1\n\ngroup: home\n\tnodes ash\n"
    resources = "vm: 101\n\tgroup pair\n\nct: 200\n\tgroup home\n\nvm: 102\n\tgroup gone\n"
    found = ha.parse("", resources, groups)
    assert found.of("101", "lab") == (Confinement("group pair", ("elm", "oak")),)
    assert found.of("200", "lab") == (Confinement("group home", ("ash",), strict=False),)
    assert found.of("102", "lab") == ()


def test_the_answers_of_the_api_say_the_same() -> None:
    rows = [
        {"rule": "db", "type": "node-affinity", "nodes": "elm:1,oak:2", "strict": 1,
         "resources": "vm:101,vm:102", "affinity": "positive", "order": 1, "digest": "0a"},
        {"rule": "wish", "type": "node-affinity", "nodes": "ash", "strict": 0,
         "resources": "ct:200", "order": 2},
        {"rule": "apart", "type": "resource-affinity", "affinity": "negative",
         "resources": "vm:101,ct:200,vm:104", "order": 3},
        {"rule": "joined", "type": "resource-affinity", "affinity": "positive",
         "resources": "vm:102,vm:104", "order": 4},
        {"rule": "asleep", "type": "node-affinity", "nodes": "ash", "disable": 1,
         "resources": "vm:101"},
    ]  # fmt: skip
    assert ha.of_rows(rows) == ha.parse(RULES, RESOURCES, "")


def test_a_rule_with_errors_is_left_out_as_by_the_manager() -> None:
    row = {"rule": "db", "type": "node-affinity", "nodes": "elm", "resources": "vm:101"}
    assert ha.of_rows([row]).of("101", "lab")
    assert not ha.of_rows([row | {"errors": {"resources": ["used twice"]}}]).rules


@pytest.mark.parametrize("text", ["", "node-affinity: x\n", "x\n\ty\n", ":\n\tresources vm:1\n"])
def test_odd_files_confine_nobody(text: str) -> None:
    assert ha.parse(text, text, text).rules == ()
