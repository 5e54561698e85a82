"""A rule is one name in four places: module, test, fixtures and page."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from support import rule_case
from unmask import plugins
from unmask.engine import explain
from unmask.model.finding import About, Rule

ROOT = Path(__file__).parents[2]
MODULES = plugins.names("unmask.rules")
RULES = plugins.load("unmask.rules", "RULE", Rule)
FAMILIES = ("CPU", "CRY", "REQ", "SEC", "CLU", "MIG", "RST")


@pytest.mark.parametrize(("module", "rule"), list(zip(MODULES, RULES, strict=True)), ids=MODULES)
def test_a_module_is_named_after_its_code(module: str, rule: Rule) -> None:
    assert re.fullmatch(rf"({'|'.join(FAMILIES)})\d{{3}}", rule.code)
    assert re.fullmatch(rf"{rule.code.lower()}_[a-z0-9_]+", module)
    assert not rule.title.endswith(".")


def test_no_code_is_used_twice() -> None:
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)


def test_each_rule_has_its_test_and_each_test_its_rule() -> None:
    tests = {path.stem for path in (ROOT / "tests" / "rules").glob("test_*.py")}
    rules = {f"test_{module}" for module in MODULES}
    assert {name for name in tests if re.match(r"test_[a-z]{3}\d{3}_", name)} == rules


def test_each_rule_has_its_fixtures_and_each_fixture_its_rule() -> None:
    folders = {path.name for path in rule_case.FOLDER.iterdir() if path.is_dir()}
    assert folders == {rule.code for rule in RULES}
    for folder in folders:
        files = {path.name for path in (rule_case.FOLDER / folder).iterdir()}
        assert files == {f"{kind}.json" for kind in rule_case.KINDS}, folder


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_fixtures_are_what_their_file_is_called(rule: Rule) -> None:
    for kind in rule_case.KINDS:
        path = rule_case.FOLDER / rule.code / f"{kind}.json"
        cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
        assert cases, path
        for case in cases:
            said = bool(case.get("findings")), bool(case.get("skips"))
            if kind == "fires":
                assert said == (True, False), case["name"]
            if kind == "silent":
                assert said == (False, False), case["name"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_page_has_all_headings_in_order(rule: Rule) -> None:
    text = explain.page(rule.code)
    assert text.startswith(f"# {rule.code}: {rule.title}\n\n")
    assert tuple(re.findall(r"^## (.*)$", text, re.MULTILINE)) == explain.HEADINGS
    sections = re.split(r"^## .*$", text, flags=re.MULTILINE)
    assert all(section.strip() for section in sections)
    assert "this version reads" not in text


def test_pages_are_made_from_the_modules() -> None:
    path = ROOT / "tools" / "rule_pages.py"
    spec = importlib.util.spec_from_file_location("rule_pages", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.stale(ROOT / "docs" / "rules", tool.pages()) == [], "run tools/rule_pages.py"


def test_every_kind_of_subject_is_looked_at() -> None:
    assert {rule.about for rule in RULES} == set(About)
