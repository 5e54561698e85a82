"""The page on metrics, the code, and the examples of alerts and dashboards speak of the same."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from support import peers, promtool
from support.golden import ROOT
from support.report_document import rich
from support.unmask_command import unmask
from unmask.report._metrics import METRICS
from unmask.report.prometheus import FEATURES, WORKLOADS, render

PAGE = (ROOT / "docs/metrics.md").read_text("utf-8")
EXAMPLES = ROOT / "examples/monitoring"
ALERTS = EXAMPLES / "unmask-alerts.yml"
NAMES = {metric.name for metric in METRICS}
METRIC = re.compile(r"\bunmask_[a-z_]+\b")
DASHBOARD: dict[str, Any] = json.loads((EXAMPLES / "grafana-dashboard.json").read_text("utf-8"))


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard_queries() -> list[str]:
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def page_queries() -> list[str]:
    table = PAGE.partition("## Queries")[2].partition("\n## ")[0]
    return re.findall(r"^\| [^|`]+ \| `([^`]+)` \|$", table, re.MULTILINE)


def test_the_page_has_every_metric_with_its_labels_and_no_other() -> None:
    rows = re.findall(r"^\| `(unmask_\w+)` \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (metric.name, ", ".join(f"`{label}`" for label in metric.labels) or "-", metric.help)
        for metric in METRICS
    ]


def test_the_page_explains_every_label() -> None:
    table = PAGE.partition("## Labels")[2].partition("\n## ")[0]
    firsts = re.findall(r"^\| (`.*?`) \| ", table, re.MULTILINE)
    explained = {word for first in firsts for word in re.findall(r"`(\w+)`", first)}
    used = {label for metric in METRICS for label in metric.labels}
    obvious = {"about", "arch", "microcode", "model", "platform", "vendor", "version"}
    assert explained == used - obvious


def test_the_page_names_the_flags_and_the_bounds_of_the_code() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `feature` |"))
    named = set(re.findall(r"`(\w+)`", row)) - {"feature"}
    assert named == {flag for flags in FEATURES.values() for flag in flags}
    assert f"the {WORKLOADS} slowest" in PAGE


@pytest.mark.parametrize("page", [PAGE, (EXAMPLES / "README.md").read_text("utf-8")])
def test_the_pages_say_how_many_series_there_are(page: str) -> None:
    text = render(rich(), 80)
    guests = Counter(re.findall(r'^unmask_guest_\w+\{guest="([^"]+)"', text, re.MULTILINE))
    nodes = Counter(re.findall(r'^unmask_host_\w+\{node="([^"]+)"', text, re.MULTILINE))
    words = " ".join(page.split())
    assert f"at most {max(guests.values())} series" in words
    assert re.search(rf"(?:A|a) node (?:has|makes) {max(nodes.values())}\b", words)


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_examples_name_metrics_that_exist(path: Path) -> None:
    named = set(METRIC.findall(path.read_text("utf-8")))
    assert named <= NAMES


def test_the_alerts_are_rules_that_do_what_they_should() -> None:
    assert "SUCCESS: 7 rules found" in promtool.run("check", "rules", str(ALERTS))
    assert "SUCCESS" in promtool.run("test", "rules", "unmask-alerts.test.yml", cwd=EXAMPLES)


def test_every_alert_is_tested_firing_and_silent_and_explained() -> None:
    cases = yaml.safe_load((EXAMPLES / "unmask-alerts.test.yml").read_text("utf-8"))["tests"]
    tested: dict[str, set[bool]] = {}
    for case in (one for group in cases for one in group["alert_rule_test"]):
        tested.setdefault(case["alertname"], set()).add(bool(case.get("exp_alerts")))
    named = {rule["alert"] for rule in rules()}
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    assert set(tested) == named
    assert all(True in outcomes for outcomes in tested.values())
    assert {name for name, outcomes in tested.items() if False in outcomes} >= named - {
        "UnmaskNodesDiffer"  # its test names a finding that does not fire beside one that does
    }
    assert set(re.findall(r"^\| `(Unmask\w+)` \|", readme, re.MULTILINE)) == named


def test_queries_of_the_dashboard_and_the_page_are_valid(tmp_path: Path) -> None:
    queries = [*dashboard_queries(), *page_queries()]
    assert len(page_queries()) == 5
    record = [{"record": f"a:{number}", "expr": query} for number, query in enumerate(queries)]
    path = tmp_path / "queries.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": record}]}))
    assert f"{len(queries)} rules found" in promtool.run("check", "rules", str(path))


def test_labels_in_queries_are_labels_of_their_metric() -> None:
    labels = {metric.name: set(metric.labels) for metric in METRICS}
    queries = [*dashboard_queries(), *page_queries(), *(rule["expr"] for rule in rules())]
    for name, text in (item for query in queries for item in _selectors(query)):
        assert set(re.findall(r"(\w+)\s*=~?", text)) <= labels[name], text


def _selectors(query: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = re.findall(r"\b(unmask_\w+)\{([^}]*)\}", query)
    return found


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    panels = DASHBOARD["panels"]
    variables = {item["name"]: item for item in DASHBOARD["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
        assert panel["description"]
        for item in (panel, *panel["targets"]):
            assert item["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps([panels, DASHBOARD["templating"]])))
    assert used - {"__all"} == set(variables)


def test_the_dashboard_s_columns_are_labels() -> None:
    common = {"Time", "Value", "__name__", "instance", "job"}
    for panel in (item for item in DASHBOARD["panels"] if item["type"] == "table"):
        options = panel["transformations"][0]["options"]
        columns = {*options["excludeByName"], *options["indexByName"]} - common
        shown = METRIC.search(panel["targets"][0]["expr"])
        assert shown
        assert columns == set(next(m for m in METRICS if m.name == shown[0]).labels)


@pytest.mark.parametrize("place", ["unmask-audit.service", "README.md"])
def test_the_daily_command_writes_the_metrics_whole(place: str, tmp_path: Path) -> None:
    """It is run as it stands there, with this test's configuration and place."""
    text = (EXAMPLES / place).read_text("utf-8")
    line = re.search(
        r"(?:ExecStart=/usr/bin/|\* \* \* unmask )(unmask audit .*)$", text, re.MULTILINE
    )
    assert line
    config = tmp_path / "unmask.toml"
    config.write_text(f'[targets.home]\naddress = "{ROOT / "examples/homelab"}"\n')
    out = tmp_path / "unmask.prom"
    words = [
        word.replace("/etc/unmask/unmask.toml", str(config)).replace(
            "/var/lib/prometheus/node-exporter/unmask.prom", str(out)
        )
        for word in shlex.split(line[1])[1:]
    ]
    answer = unmask(*words)
    assert (answer.code, answer.output) == (0, ""), answer.errors
    assert promtool.run("check", "metrics", stdin=out.read_text("utf-8")) == ""
    assert [path.name for path in tmp_path.iterdir() if path != config] == ["unmask.prom"]
    assert out.stat().st_mode & 0o044 == 0o044  # node_exporter runs as somebody else


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    checker = peers.program("systemd-analyze")
    for name in ("unmask-audit.service", "unmask-audit.timer"):
        text = (EXAMPLES / name).read_text("utf-8")
        (tmp_path / name).write_text(text.replace("/usr/bin/unmask", "/bin/true"))
    paths = [str(tmp_path / name) for name in ("unmask-audit.service", "unmask-audit.timer")]
    done = peers.run([checker, "verify", "--man=no", *paths])
    assert done.stderr == ""
