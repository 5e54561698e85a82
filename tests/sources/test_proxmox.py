"""A cluster read by its API gives what the files of the same cluster give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from support.lab_target import address, login, read, trust
from unmask import plugins
from unmask.dialects import saved
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.errors import TargetError, UsageError
from unmask.lab.lab import Lab
from unmask.model.access import Access
from unmask.model.case import GuestCase
from unmask.model.cpu import Mode, RemarkKind
from unmask.model.finding import Rule
from unmask.model.inventory import Gap, Guest, GuestKind, GuestState, Inventory
from unmask.model.reading import Known, Missing
from unmask.model.source import CollectOptions
from unmask.sources import proxmox, proxmox_files


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


@pytest.fixture(scope="module")
def live(lab: Lab) -> Inventory:
    return read(lab)


@pytest.fixture(scope="module")
def copy(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    """The same cluster as files, with each node's /proc/cpuinfo beside them."""
    folder = tmp_path_factory.mktemp("pve")
    lab.write_tree(folder)
    for name, host in lab.cluster.hosts.items():
        (folder / "nodes" / name / "cpuinfo").write_text(host.proc_cpuinfo(), encoding="utf-8")
    return proxmox_files.collect(str(folder), CollectOptions())


def by_ident(inventory: Inventory) -> dict[str, Guest]:
    return {guest.ident: guest for guest in inventory.guests}


def cases(inventory: Inventory) -> Mapping[str, GuestCase]:
    return {case.guest.subject: case for case in guest_cases(inventory)}


def gap(inventory: Inventory, subject: str) -> Gap:
    found = [item for item in inventory.gaps if item.subject == subject]
    assert len(found) == 1, inventory.gaps
    return found[0]


def test_targets_of_this_kind() -> None:
    assert proxmox.fits("pve://pve1")
    assert not proxmox.fits("pve+ssh://pve1")
    assert not proxmox.fits("qemu:///system")


def test_the_same_guests_hosts_and_models_as_the_files_tell(
    live: Inventory, copy: Inventory
) -> None:
    def guests(found: Inventory) -> list[tuple[str, str, str, GuestKind, bool, str]]:
        return [
            (item.subject, item.name, item.host, item.kind, item.template, item.arch)
            for item in found.guests
        ]

    assert guests(live) == guests(copy)
    assert [host.subject for host in live.hosts] == [host.subject for host in copy.hosts]
    assert live.clusters == copy.clusters
    assert live.gaps == ()


def test_the_same_host_cpus(live: Inventory, copy: Inventory) -> None:
    for one, other in zip(live.hosts, copy.hosts, strict=True):
        ours, theirs = one.cpu.value, other.cpu.value
        assert (ours.arch, ours.flags, ours.vendor) == (theirs.arch, theirs.flags, theirs.vendor)
        assert ours.complete
        assert ours.model_name == theirs.model_name
        older = one.name == "pve4"  # which is not updated yet
        assert one.software.hypervisor == f"Proxmox VE {'9.0.11' if older else '9.2.11'}"
        assert one.software.kernel.endswith("-pve")
        assert one.software.qemu


def test_the_same_cpu_verdicts(live: Inventory, copy: Inventory) -> None:
    """QEMU's version and what runs are all that the files cannot tell."""
    known = {host.subject: host.software for host in live.hosts}
    hosts = tuple(replace(host, software=known[host.subject]) for host in copy.hosts)
    ours, theirs = cases(live), cases(replace(copy, hosts=hosts))
    assert ours.keys() == theirs.keys()
    for subject, case in ours.items():
        other = theirs[subject]
        assert replace(case.view, steps=()) == replace(other.view, steps=()), subject
        assert (case.pending is None) == (other.pending is None), subject
        if case.pending and other.pending:
            assert replace(case.pending, steps=()) == replace(other.pending, steps=()), subject


def test_the_same_findings_but_for_what_only_the_file_shows(
    live: Inventory, copy: Inventory
) -> None:
    rules = plugins.load("unmask.rules", "RULE", Rule)
    ours = {(item.code, item.subject) for item in judge(live, rules).findings}
    theirs = {(item.code, item.subject) for item in judge(copy, rules).findings}
    assert ours - theirs == set()
    invalid = {"121", "133"}  # their cpu lines do not validate
    stopped = {"113", "131"}  # the files do not tell that, and so they may have to move alive
    expected = {("CPU006", f"homelab/{vmid}") for vmid in invalid}
    assert theirs - ours == expected | {("MIG016", f"homelab/{vmid}") for vmid in stopped}


def test_states(live: Inventory, lab: Lab) -> None:
    guests = by_ident(live)
    assert guests["101"].state is GuestState.RUNNING
    assert guests["111"].state is GuestState.STOPPED
    assert guests["124"].state is GuestState.SUSPENDED
    assert guests["200"].state is GuestState.RUNNING
    running = {int(item.ident) for item in live.guests if item.state is GuestState.RUNNING}
    assert running == set(lab.cluster.running)


def test_what_is_pending_waits_and_what_runs_is_current(live: Inventory) -> None:
    guest = by_ident(live)["114"]
    assert (guest.configured.written, guest.running) == ("kvm64", None)
    assert guest.pending is not None
    assert guest.pending.written == "x86-64-v2-AES"


def test_a_suspended_guest_resumes_with_its_own_cpu(live: Inventory) -> None:
    guest = by_ident(live)["124"]
    assert guest.running is not None
    assert (guest.lock, guest.running.model) == ("suspended", "qemu64")


def test_snapshots_with_memory_are_read_only_where_there_are_any(lab: Lab, live: Inventory) -> None:
    (snapshot,) = by_ident(live)["123"].snapshots
    assert (snapshot.name, snapshot.with_memory) == ("before-upgrade", True)
    assert snapshot.cpu.model == "kvm64"
    before = lab.counts()
    read(lab)
    asked = lab.counts() - before
    assert asked["GET /nodes/{node}/qemu/{vmid}/snapshot"] == 1
    assert asked["GET /nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config"] == 1
    assert asked["GET /nodes/{node}/qemu/{vmid}/pending"] == len(lab.cluster.guests())
    assert not [name for name in asked if not name.startswith("GET ")]


def test_what_the_cluster_does_to_keep_a_guest(live: Inventory, copy: Inventory) -> None:
    for guests in (by_ident(live), by_ident(copy)):
        managed = {ident for ident, guest in guests.items() if guest.high_availability}
        assert managed == {"112", "114", "123", "125"}
        assert guests["125"].high_availability == "started"
        assert {ident for ident, guest in guests.items() if guest.replicas} == {"126"}
        assert guests["126"].replicas == ("pve2",)
        assert {ident for ident, guest in guests.items() if guest.lock} == {"113", "124"}


def test_a_missing_cpu_line_is_no_proof_of_intent(live: Inventory) -> None:
    for guest in live.guests:
        texts = [item.text for item in guest.configured.remarked(RemarkKind.NOTE)]
        said = any("leaves out a cpu line that does not validate" in text for text in texts)
        absent = guest.kind is GuestKind.VM and not guest.configured.written
        assert said is absent, guest.subject
    assert by_ident(live)["121"].configured.written == ""


def test_it_survives_being_saved(live: Inventory) -> None:
    assert saved.load(saved.dump(live)) == live


def test_a_password_reads_the_same(lab: Lab, live: Inventory) -> None:
    assert read(lab, "audit@pve") == live


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_older_releases_are_asked_for_what_they_have(version: str, live: Inventory) -> None:
    with Lab(version=version) as old:
        found = read(old)
        everything = read(old, "root")
    assert [item.subject for item in found.guests] == [item.subject for item in live.guests]
    assert all(host.cpu.known for host in found.hosts)
    vendors = {host.name: host.cpu.value.vendor for host in found.hosts}
    assert vendors == {host.name: host.cpu.value.vendor for host in live.hosts}
    assert found.hosts[0].software.hypervisor.startswith(f"Proxmox VE {version}")
    nas = by_ident(found)["120"].configured
    assert (nas.mode, nas.label) == (Mode.UNKNOWN, "custom-nas")
    assert nas.remarked(RemarkKind.UNRESOLVED)
    assert not nas.remarked(RemarkKind.CUSTOM_MISSING)
    (missing,) = found.gaps
    assert (missing.subject, "custom model nas" in missing.reason) == ("homelab", True)
    assert "pve+ssh://" in missing.needs
    assert dict(found.clusters[0].custom_models).keys() == {"compat", "nas"}
    assert everything.gaps == found.gaps  # no privilege would help


def test_a_token_that_may_see_part_of_it_says_which_part(lab: Lab) -> None:
    found = read(lab, "partial")
    assert sorted(by_ident(found)) == ["101", "112"]
    cluster = found.clusters[0].subject
    needs = {(item.subject.removeprefix(f"{cluster}/"), item.needs) for item in found.gaps}
    assert needs == {
        (cluster, "Sys.Audit on /"),
        (cluster, "VM.Audit on /vms, propagated"),
        *((f"pve{number}", f"Sys.Audit on /nodes/pve{number}") for number in (2, 3, 4)),
    }
    readings = {host.name: host.cpu for host in found.hosts}
    assert isinstance(readings["pve1"], Known)
    assert readings["pve2"] == Missing(
        "403 Permission check failed (/nodes/pve2, Sys.Audit)", "Sys.Audit on /nodes/pve2"
    )


def test_a_token_without_any_privilege_sees_nothing_and_says_so(lab: Lab) -> None:
    found = read(lab, "bare")
    assert found.guests == ()
    assert len(found.hosts) == 4
    assert "VM.Audit on /vms, propagated" in {item.needs for item in found.gaps}


def test_a_model_that_may_not_be_seen_is_unknown_not_guessed() -> None:
    with Lab() as lab:
        users = lab.cluster.files["user.cfg"]
        lab.cluster.files["user.cfg"] = users.replace(
            "role:GuestReader:Mapping.Audit,", "role:GuestReader:"
        )
        found = read(lab, "agent")
    nas = by_ident(found)["120"].configured
    assert nas.mode is Mode.UNKNOWN
    assert gap(found, "homelab").needs == "Mapping.Audit on /mapping/cpu/nas"


@pytest.mark.parametrize("name", ["expired", "disabled"])
def test_a_token_that_is_refused_is_one_clear_error(lab: Lab, name: str) -> None:
    with pytest.raises(TargetError, match=r"refuses the token .*401 Authentication failed"):
        read(lab, name)


def test_a_target_without_credentials_is_an_error(lab: Lab) -> None:
    with pytest.raises(TargetError, match="no token or password"):
        proxmox.collect(address(lab), CollectOptions())
    with pytest.raises(UsageError, match="is not HOST"):
        proxmox.collect("pve://a b", CollectOptions())


def test_an_unverified_certificate_is_said_in_the_report(lab: Lab, live: Inventory) -> None:
    access = Access(login(lab), replace(trust(lab), insecure=True))
    found = proxmox.collect(address(lab), CollectOptions(access=access))
    assert "not verified" in gap(found, "homelab").reason
    assert found.guests == live.guests


def test_another_entry_serves_where_the_first_is_gone(lab: Lab, live: Inventory) -> None:
    access = Access(login(lab), trust(lab), ("127.0.0.1:2", lab.address))
    found = proxmox.collect("pve://127.0.0.1:1", CollectOptions(access=access))
    assert [item.configured for item in found.guests] == [item.configured for item in live.guests]


def test_an_entry_that_fails_in_mid_run_is_replaced(live: Inventory) -> None:
    with Lab() as one, Lab(beside=one) as other:
        one.set_fault("resets=1@pending")
        found = read(one, entries=(other.address,))
        assert any("pending" in seen.path for seen in other.seen)
    assert [item.configured for item in found.guests] == [item.configured for item in live.guests]
    assert found.gaps == ()


def test_progress_is_told_and_taken_away(lab: Lab) -> None:
    told: list[str] = []
    access = Access(login(lab), trust(lab))
    proxmox.collect(address(lab), CollectOptions(access=access, progress=told.append))
    assert told[0] == "cluster: 1/9"
    assert any(text.startswith("guests: ") for text in told)
    assert told[-1] == ""
    told.clear()
    with pytest.raises(TargetError):
        proxmox.collect("pve://127.0.0.1:1", CollectOptions(access=access, progress=told.append))
    assert told == [""]
