"""The metrics are what Prometheus's own parsers read, and say what is known and what is not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from prometheus_client.parser import text_string_to_metric_families

from support import golden, promtool
from support.documents import HOSTILE, document, finding, lab
from support.hostile_document import hostile
from support.report_document import rich
from support.spoilt import FUZZ, NAMES, spoilt
from support.visited_document import judged, visited
from unmask.model.finding import About, Outcome, Problem, Rule, Severity
from unmask.model.inventory import Gap, Inventory
from unmask.model.outlook import Status
from unmask.model.report import Document
from unmask.model.workload import WorkloadKind
from unmask.report._metrics import METRICS
from unmask.report.prometheus import WORKLOADS, render

Labels = frozenset[tuple[str, str]]
EMPTY = document(Outcome(), Inventory())


def samples(of: Document) -> dict[str, dict[Labels, float]]:
    """Return each metric's samples, as the reference parser reads them; none comes twice."""
    found: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(render(of, 80)):
        assert family.type == "gauge"
        assert family.documentation
        for sample in family.samples:
            held = found.setdefault(sample.name, {})
            labels = frozenset(sample.labels.items())
            assert labels not in held, sample
            held[labels] = sample.value
    return found


def value(of: Document, metric: str, **labels: str) -> float | None:
    """Return the one sample that has these labels among others, None where there is none."""
    held = samples(of).get(metric, {})
    fitting = [number for key, number in held.items() if set(labels.items()) <= key]
    assert len(fitting) < 2
    return fitting[0] if fitting else None


def test_the_metrics_are_as_expected() -> None:
    golden.check("report/rich.prom", render(rich(), 80))


@pytest.mark.parametrize("of", [rich(), hostile(), visited(), EMPTY])
def test_only_metrics_with_names_and_labels_of_the_list_are_written(of: Document) -> None:
    known = {metric.name: set(metric.labels) for metric in METRICS}
    for name, held in samples(of).items():
        for labels in held:
            assert {key for key, _ in labels} <= known[name]


def test_all_metrics_of_the_list_are_written_somewhere() -> None:
    assert set(samples(rich())) == {metric.name for metric in METRICS}


@pytest.mark.parametrize("of", [rich(), hostile(), visited(), EMPTY])
def test_promtool_has_nothing_to_say(of: Document) -> None:
    assert promtool.run("check", "metrics", stdin=render(of, 80)) == ""


def test_promtool_refuses_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="non-counter metrics should not have"):
        promtool.run(
            "check", "metrics", stdin="# HELP a_total x\n# TYPE a_total gauge\na_total 1\n"
        )


@FUZZ
@given(NAMES)
def test_any_name_gives_metrics(names: list[str]) -> None:
    of = spoilt(names)
    found = samples(of)
    assert sum(found["unmask_finding"].values()) == len(of.outcome.findings)
    line = re.compile(
        r'[a-z_]+(\{([a-z]+="([^"\\\n]|\\[\\"n])*",?)+\})? [0-9.e+-]+|# (HELP|TYPE) .*'
    )
    text = render(of, 80)
    text.encode()
    assert all(line.fullmatch(written) for written in text.removesuffix("\n").split("\n"))


def test_labels_come_back_as_they_were() -> None:
    inventory = lab()
    name = 'a "b" \\c\\n {d="e"} # f'
    guest = replace(inventory.guests[0], name=name)
    of = document(inventory=replace(inventory, guests=(guest,)))
    assert value(of, "unmask_guest_info", name=name) == 1


def test_unprintable_characters_are_left_out() -> None:
    inventory = lab()
    guest = replace(inventory.guests[0], name=HOSTILE)
    text = render(document(inventory=replace(inventory, guests=(guest,))), 80)
    assert "\x1b" not in text
    assert 'name="xredgnp line"' in text


def test_when_the_audit_began() -> None:
    assert value(rich(), "unmask_audit_timestamp_seconds") == 1796112000  # date -d 2026-12-01T08Z
    plain = replace(rich(), run=replace(rich().run, started="2026-12-01T08:00:00"))
    assert value(plain, "unmask_audit_timestamp_seconds") == 1796112000


def test_every_severity_and_status_is_counted_also_none() -> None:
    assert samples(EMPTY)["unmask_findings"] == {
        frozenset({("severity", severity.word)}): 0 for severity in Severity
    }
    assert value(rich(), "unmask_findings", severity="high") == 3
    assert value(rich(), "unmask_accepted_findings", severity="low") == 2
    assert value(EMPTY, "unmask_workloads", status="software") == 0
    assert value(visited(), "unmask_workloads", status="not-affected") == 2


def test_findings_are_counted_by_rule_and_subject() -> None:
    problem = Problem(Severity.HIGH, "it is slow")
    found = tuple(finding("TST001", "lab/100", "gate", problem) for _ in range(2))
    of = document(Outcome((*found, finding("TST002", "lab", "lab", problem))))
    told = {"code": "TST001", "severity": "high", "subject": "lab/100", "about": "guest"}
    assert value(of, "unmask_finding", **told, cluster="lab") == 2
    assert value(of, "unmask_finding", code="TST002", about="cluster") == 1


def test_what_is_of_a_site_says_so() -> None:
    problem = Problem(Severity.HIGH, "it is slow")
    of = document(Outcome((finding("TST001", "lab/100", "gate", problem),)))
    cases = tuple(replace(case, guest=replace(case.guest, site="berlin")) for case in of.cases)
    assert value(replace(of, cases=cases), "unmask_finding", site="berlin") == 1
    assert value(replace(of, cases=cases), "unmask_guest_info", site="berlin", name="nas") == 1


def test_a_rule_about_clusters_means_the_cluster_where_a_host_is_called_the_same() -> None:
    found = finding("TST001", "lab", "lab", Problem(Severity.HIGH, "they differ"))
    inventory = lab()
    hosts = (replace(inventory.hosts[0], subject="lab"),)
    rule = Rule("TST001", "Title", About.CLUSTER, lambda _: ())
    of = document(Outcome((found,)), replace(inventory, hosts=hosts))
    assert value(of, "unmask_finding", about="host") == 1
    assert value(replace(of, rules=(rule,)), "unmask_finding", about="cluster") == 1


def test_a_level_that_could_be_higher_is_not_known() -> None:
    case = rich().cases[0]
    assert value(replace(rich(), cases=(case,)), "unmask_guest_cpu_level") == 2
    open_ = replace(case, view=replace(case.view, level_certain=False), observed=None)
    assert value(replace(rich(), cases=(open_,)), "unmask_guest_cpu_level") is None


def test_a_target_that_could_not_be_read() -> None:
    inventory = replace(rich().inventory, gaps=(Gap("coast", "no answer"),))
    of = replace(rich(), inventory=inventory)
    assert value(of, "unmask_target_read", target="coast") == 0
    assert value(of, "unmask_target_read", target="hall") == 1
    assert value(of, "unmask_gaps") == 1


def test_what_is_not_known_of_a_flag_is_absent_and_counted() -> None:
    shown = {"guest": "coast/103", "feature": "aes"}
    open_ = {"guest": "coast/105", "feature": "aes"}
    assert value(rich(), "unmask_guest_feature", **shown) == 1
    assert value(rich(), "unmask_guest_feature_unknown", **shown) is None
    assert value(rich(), "unmask_guest_feature", **open_) is None
    assert value(rich(), "unmask_guest_feature_unknown", **open_) == 1
    assert value(rich(), "unmask_guest_cpu_level", guest="coast/105") is None
    assert value(rich(), "unmask_host_feature", node="coast/tern", feature="aes") is None
    assert value(rich(), "unmask_host_info", node="coast/tern") == 1


def test_a_guest_s_own_word_settles_what_is_open() -> None:
    case = next(case for case in rich().cases if case.guest.subject == "coast/105")
    seen = next(case for case in rich().cases if case.guest.subject == "coast/101").observed
    assert seen is not None
    of = replace(rich(), cases=(replace(case, observed=seen),))
    assert value(of, "unmask_guest_feature", guest="coast/105", feature="aes") == 1
    assert value(of, "unmask_guest_feature", guest="coast/105", feature="pclmulqdq") == 0


def test_kinds_that_could_not_be_looked_for_are_counted() -> None:
    metric = "unmask_guest_workload_kinds_unread"
    assert value(rich(), metric, guest="coast/101") == 2  # BitLocker and LUKS
    assert value(rich(), metric, guest="coast/102") == 0
    assert value(rich(), metric, guest="coast/103") is None


def test_speed_is_a_ratio_and_absent_where_nothing_was_measured() -> None:
    ratio = value(visited(), "unmask_workload_speed_ratio", guest="lab/101", workload="tank/secure")
    assert ratio == 0.007
    assert value(visited(), "unmask_workload_speed_ratio", workload="port 8443") is None
    assert value(visited(), "unmask_workload_info", workload="port 8443", status="unknown") == 1


def test_series_of_one_guest_are_bounded_and_the_slowest_stay() -> None:
    many = tuple(
        judged(WorkloadKind.ZFS, f"pool/{number}", Status.SOFTWARE, factor=1 - number / 1000)
        for number in range(300)
    )
    of = replace(rich(), cases=(replace(rich().cases[0], workloads=many),))
    found = samples(of)
    assert len(found["unmask_workload_info"]) == len(found["unmask_workload_speed_ratio"])
    assert len(found["unmask_workload_info"]) == WORKLOADS
    assert value(of, "unmask_workload_speed_ratio", workload="pool/299") == 0.701
    assert value(of, "unmask_workloads", status="software") == 300


def test_names_that_become_equal_are_one_series_of_the_worse() -> None:
    both = tuple(
        judged(WorkloadKind.ZFS, "x" * 200 + end, Status.SOFTWARE, factor=factor)
        for end, factor in (("a", 0.5), ("b", 0.25))
    )
    of = replace(rich(), cases=(replace(rich().cases[0], workloads=both),))
    assert list(samples(of)["unmask_workload_speed_ratio"].values()) == [0.25]


def test_a_guest_has_few_series() -> None:
    found = samples(replace(rich(), outcome=Outcome()))
    each = Counter(
        text for held in found.values() for labels in held for key, text in labels if key == "guest"
    )
    assert max(each.values()) < 20


def test_the_same_document_gives_the_same_text() -> None:
    assert render(rich(), 80) == render(rich(), 0)
