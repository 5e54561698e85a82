"""When a benchmark is too disturbed."""

from dataclasses import replace

from support.benches import environment, result, samples
from unmask.measure import noise
from unmask.model.bench import PLAIN, BenchResult


def stolen(share: float) -> BenchResult:
    runs = samples({"aes-256-gcm": {PLAIN: [100, 101, 100]}})
    return replace(result({}), samples=tuple(replace(run, steal=share) for run in runs))


def test_quiet_runs_are_fit_and_nothing_is_said() -> None:
    found = noise.judge(result({"aes-256-gcm": {PLAIN: [100, 101, 102]}}, environment("aes")))
    assert found == noise.Noise(fit=True)


def test_runs_far_apart_are_unfit() -> None:
    found = noise.judge(result({"aes-256-gcm": {PLAIN: [40, 100, 160]}}))
    assert not found.fit
    assert "aes-256-gcm (plain)" in found.reasons[0]
    assert "60%" in found.reasons[0]
    assert found.advice


def test_a_little_noise_is_said_and_fit() -> None:
    rates = {"a": {PLAIN: [80, 100, 110]}, "b": {PLAIN: [70, 100, 110]}}
    found = noise.judge(result(rates))
    assert found.fit
    assert "1 more" in found.reasons[0]


def test_steal() -> None:
    assert noise.judge(stolen(0.01)).reasons == ()
    some = noise.judge(stolen(0.1))
    assert some.fit
    assert "10%" in some.reasons[0]
    assert "virtual processors" in some.advice[0]
    assert not noise.judge(stolen(0.5)).fit


def test_other_programs_in_the_machine() -> None:
    runs = result({"a": {PLAIN: [100] * 3}}).samples
    for share, said in ((0.1, False), (0.4, True)):
        waiting = tuple(replace(run, waited=share) for run in runs)
        reasons = noise.judge(replace(result({}), samples=waiting)).reasons
        assert any("for 40% of the time" in reason for reason in reasons) is said


def test_runs_that_become_slower_and_slower() -> None:
    falling = noise.judge(result({"a": {PLAIN: [100, 95, 90, 85, 70]}}))
    assert any("from run to run, by 30%" in reason for reason in falling.reasons)
    wavering = noise.judge(result({"a": {PLAIN: [100, 95, 96, 85, 70]}}))
    assert not any("from run to run" in reason for reason in wavering.reasons)


def test_a_busy_machine_is_held_against_its_processors() -> None:
    where = replace(environment("aes"), load=1.9)
    assert "load of 1.9 on 2 processors" in noise.judge(result({}, where)).reasons[0]
    assert noise.judge(result({}, replace(where, load=1.0))).reasons == ()
    assert noise.judge(result({})).reasons == ()
