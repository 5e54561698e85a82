"""`openssl speed`: every form of its output, turned into bulk rates."""

from pathlib import Path

import pytest

from unmask.dialects.bench import openssl_speed
from unmask.model.bench import MASKED, PADLOCK, PLAIN, Ended, Sample, Tool

RECORDED = Path(__file__).parents[3] / "fixtures" / "bench" / "recorded"

HEAD_11 = """\
OpenSSL 1.1.1n  15 Mar 2022
built on: Fri Jun  3 08:00:00 2022 UTC
options:bn(64,64) rc4(16x,int) des(int) aes(partial) blowfish(ptr)
compiler: gcc -fPIC -pthread -m64 -O2 -DL_ENDIAN -DAESNI_ASM -DVPAES_ASM -DGHASH_ASM
The 'numbers' are in 1000s of bytes per second processed.
"""
SIX = "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes\n"
FIVE = "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes\n"


def one(text: str, *arguments: object, **named: object) -> Sample:
    (sample,) = openssl_speed.parse(text, *arguments, **named)  # type: ignore[arg-type]
    return sample


def recorded(name: str) -> tuple[str, int]:
    """Return what a recorded run printed, standard output first, and its exit status."""
    text = ""
    for suffix in (".txt", ".err"):
        path = RECORDED / (name + suffix)
        text += path.read_text(encoding="utf-8") if path.exists() else ""
    status = RECORDED / f"{name}.status"
    return text, int(status.read_text()) if status.exists() else 0


def test_the_largest_block_counts() -> None:
    row = "aes-128-gcm  64000.00k  150000.00k  290000.00k  470000.00k  590000.00k  610000.00k\n"
    sample = one(HEAD_11 + SIX + row)
    assert sample.tool is Tool.OPENSSL
    assert (sample.algorithm, sample.setting, sample.ended) == ("aes-128-gcm", PLAIN, Ended.WELL)
    assert (sample.rate, sample.block) == (610_000_000.0, 16384)
    assert sample.evp is True
    assert sample.processes == 1
    assert "610000.00k" in sample.raw


def test_8192_is_the_bulk_block_before_1_1_0() -> None:
    row = "aes-256-cbc      9000.00k    11000.00k    12000.00k    12500.00k    12700.00k\n"
    sample = one("OpenSSL 1.0.2k-fips  26 Jan 2017\n" + FIVE + row)
    assert (sample.rate, sample.block) == (12_700_000.0, 8192)


@pytest.mark.parametrize(
    ("printed", "ours"),
    [
        ("AES-128-GCM", "aes-128-gcm"),
        ("aes-128-gcm", "aes-128-gcm"),
        ("id-aes128-GCM", "aes-128-gcm"),
        ("AES-256-CTR", "aes-256-ctr"),
        ("aes-256 cbc", "aes-256-cbc"),
        ("ChaCha20-Poly1305", "chacha20-poly1305"),
        ("des ede3", "des-ede3"),
        ("rc5-32/12 cbc", "rc5-32/12-cbc"),
        ("hmac(md5)", "hmac(md5)"),
        ("aes-128-cbc-hmac-sha1", "aes-128-cbc-hmac-sha1"),
    ],
)
def test_names_have_one_spelling(printed: str, ours: str) -> None:
    table = f"type           8192 bytes\n{printed:<13} {'23898.91k':>12}\n"
    counts = f"Doing {printed} for 3s on 8192 size blocks: 8752 {printed}'s in 3.00s\n"
    assert one(table).algorithm == ours
    assert one(counts).algorithm == ours


def test_a_row_of_a_long_name_is_not_aligned() -> None:
    text = "type           8192 bytes\nChaCha20-Poly1305   114878.32k\nghash         10700095.49k\n"
    rates = {sample.algorithm: sample.rate for sample in openssl_speed.parse(text)}
    assert rates == {"chacha20-poly1305": 114_878_320.0, "ghash": 10_700_095_490.0}


@pytest.mark.parametrize("ending", ["'s", " ops"])
def test_counts_alone_are_computed(ending: str) -> None:
    kind = " ops" if ending == " ops" else ""
    text = "".join(
        f"Doing AES-256-GCM{kind} for 3s on {block} size blocks: "
        f"{count} AES-256-GCM{ending} in {seconds}s\n"
        for block, count, seconds in ((16, 9000000, "2.99"), (8192, 110000, "2.98"))
    )
    sample = one(text)
    assert sample.rate == pytest.approx(110000 * 8192 / 2.98)
    assert (sample.block, sample.seconds) == (8192, 2.98)
    assert "computed from its counts" in sample.note


def test_counts_and_table_of_one_run_are_one_sample_in_either_order() -> None:
    text, _ = recorded("qemu64-plain")
    table, counts = text.partition("You have")[0], "You have" + text.partition("You have")[2]
    for whole in (table + counts, counts + table):
        sample = one(whole)
        assert (sample.rate, sample.block, sample.seconds) == (23_898_910.0, 8192, 0.98)


def test_machine_readable_output() -> None:
    text, status = recorded("qemu64-mr")
    sample = one(text, PLAIN, status)
    assert (sample.algorithm, sample.rate, sample.block) == ("aes-128-gcm", 24_054_690.91, 8192)
    assert sample.seconds == 0.99


def test_machine_readable_output_of_several_algorithms_and_blocks() -> None:
    text = (
        "+H:16:64:256:1024:8192\n+F:8:aes-128 cbc:90345060.00:140108840.00:170027920.00"
        ":179704120.00:182388440.00\n+F:22:aes-256-gcm:4000000.00:5000000.00:6000000.00"
        ":7000000.00:8000000.00\n+F2:2:2048:0.000569:0.000031\n"
    )
    assert [(item.algorithm, item.rate, item.evp) for item in openssl_speed.parse(text)] == [
        ("aes-128-cbc", 182_388_440.0, False),
        ("aes-256-gcm", 8_000_000.0, True),
    ]


def test_every_row_is_a_sample_even_of_one_name() -> None:
    text = FIVE + (
        "aes-128-cbc      27524.84k    31910.27k    33292.54k    33607.00k    33759.23k (big)\n"
        "aes-128-cbc      17524.84k    21910.27k    23292.54k    23607.00k    23759.23k (little)\n"
    )
    samples = openssl_speed.parse(text)
    assert [sample.rate for sample in samples] == [33_759_230.0, 23_759_230.0]
    assert [sample.note for sample in samples] == ["big", "little"]


def test_lines_between_and_behind_the_rows_are_passed_over() -> None:
    text = (
        HEAD_11
        + FIVE
        + "[  108.412820] random: crng init done\n"
        + "sha256           23354.37k    54220.61k    99784.35k   126494.48k   138266.71k\n"
        + "WARNING: something else\n"
        + "aes-128-ctr      23354.37k    54220.61k    99784.35k   126494.48k   138266.71k\n"
        + "\n                  sign    verify    sign/s verify/s\n"
        + "rsa 1024 bits 0.000569s 0.000031s   1757.0  31897.1\n"
        + "real 15.02\nuser 14.90\nsys 0.01\n"
    )
    names = [sample.algorithm for sample in openssl_speed.parse(text)]
    assert names == ["sha256", "aes-128-ctr"]


def test_a_page_that_joins_lines_and_collapses_blanks() -> None:
    text = HEAD_11 + FIVE + "aes-128-gcm 64000.00k 150000.00k 290000.00k 470000.00k 590000.00k\n"
    sample = one(" ".join(text.split()))
    assert (sample.rate, sample.block) == (590_000_000.0, 8192)


def test_several_processes_are_one_rate() -> None:
    text = (
        "Forked child 0\n+DT:AES-128-GCM:1:8192\n+DT:AES-128-GCM:1:8192\n"
        "+R:336695:AES-128-GCM:1.000000\n+R:360026:AES-128-GCM:1.000000\nForked child 1\n"
        "Got: +H:8192 from 0\nGot: +F:25:AES-128-GCM:2758205440.00 from 0\n"
        "Got: +H:8192 from 1\nGot: +F:25:AES-128-GCM:2949332992.00 from 1\n"
    )
    table = "version: 3.0.19\nbuilt on: Fri Apr  3 2026\nAES-128-GCM    5707538.43k\n"
    machine = "+F:25:AES-128-GCM:5707538430.00\n"
    for whole in (text + table, text + machine):
        sample = one(whole)
        assert (sample.rate, sample.block, sample.processes) == (5_707_538_430.0, 8192, 2)
    errors = "".join(line for line in text.splitlines(keepends=True) if line.startswith("+"))
    for cut in (one(text), one(errors)):
        assert (cut.rate, cut.ended, cut.processes) == (None, Ended.INVALID, 2)


def test_the_padlock_engine_is_its_own_setting() -> None:
    row = FIVE + "aes-256-cbc      1000.00k    2000.00k    3000.00k    4000.00k    5000.00k\n"
    sample = one('engine "padlock" set.\n' + row)
    assert (sample.setting, sample.engine) == (PADLOCK, "padlock")
    assert one('Engine "padlock" set.\n' + row, MASKED).setting == MASKED
    other = one('engine "afalg" set.\n' + row)
    assert (other.setting, other.engine) == (PLAIN, "afalg")
    assert "engine afalg" in other.note


def test_an_engine_that_could_not_be_loaded_measured_nothing() -> None:
    text = (
        'Invalid engine "padlock"\n407:error:13000074:engine routines:ENGINE_by_id:no such engine\n'
        "Doing AES-256-CBC for 3s on 16384 size blocks: 90000 AES-256-CBC's in 3.00s\n"
    )
    sample = one(text, PADLOCK, 0, "aes-256-cbc")
    assert (sample.ended, sample.rate) == (Ended.UNSUPPORTED, None)
    plain = one(text)
    assert (plain.setting, plain.engine) == (PLAIN, "")
    assert plain.rate == pytest.approx(491_520_000.0)
    assert "padlock could not be loaded" in plain.note


def test_an_engine_shows_by_what_a_call_costs() -> None:
    def text(times: dict[int, float]) -> str:
        return "".join(
            f"Doing aes-256-cbc for 3s on {block} size blocks: "
            f"{round(3 / took)} aes-256-cbc's in 3.00s\n"
            for block, took in times.items()
        )

    kernel = one(text({16: 52e-6, 1024: 240e-6, 16384: 3200e-6}))
    assert "each call costs 49 microseconds" in kernel.note
    library = one(text({16: 25e-9, 1024: 210e-9, 16384: 2600e-9}))
    assert "each call" not in library.note
    slow = one(text({16: 4e-6, 1024: 210e-6, 16384: 3300e-6}))
    assert "each call" not in slow.note


@pytest.mark.parametrize(
    ("version", "name", "words"),
    [
        ("OpenSSL 0.9.8k 25 Mar 2009", "aes-256-cbc", "0.9.8k has no AES-NI code"),
        ("OpenSSL 1.0.0 29 Mar 2010", "aes-256 cbc", "1.0.0 has no AES-NI code"),
        ("OpenSSL 1.0.2u  20 Dec 2019", "aes-256 cbc", "without -evp"),
        ("LibreSSL 3.8.2", "aes-256 cbc", "without -evp"),
        ("OpenSSL 1.0.2u  20 Dec 2019", "aes-256-cbc", ""),
        ("version: 3.0.2", "aes-256-cbc", ""),
        ("OpenSSL 0.9.8k 25 Mar 2009", "sha256", ""),
    ],
)
def test_a_figure_that_says_nothing_of_the_processor_is_marked(
    version: str, name: str, words: str
) -> None:
    row = f"{name:<13}   1000.00k    2000.00k    3000.00k    4000.00k    5000.00k\n"
    sample = one(f"{version}\n{FIVE}{row}")
    assert words in sample.note
    assert bool(words) == bool(sample.note)
    assert sample.rate == 5_000_000.0


def test_from_3_0_on_everything_is_evp() -> None:
    row = "aes-256-cbc      1000.00k    2000.00k    3000.00k    4000.00k    5000.00k\n"
    assert one(f"version: 3.0.2\n{FIVE}{row}").evp is True
    assert one(f"version: 3.0.2\n{FIVE}{row.replace('aes-256-cbc', 'sha256     ')}").evp is True
    assert one(f"{HEAD_11}{FIVE}{row.replace('aes-256-cbc', 'sha256     ')}").evp is None


def test_runs_of_one_terminal_are_told_apart() -> None:
    rows = [FIVE + f"aes-256-cbc   1.00k 2.00k 3.00k 4.00k {rate}.00k\n" for rate in (20, 700)]
    command = "# openssl speed -evp aes-256-cbc"
    text = f"{command}\n{rows[0]}{command} -engine padlock\n{rows[1]}"
    first, second = openssl_speed.parse(text)
    assert (first.rate, first.setting) == (20_000.0, PLAIN)
    assert (second.rate, second.setting) == (700_000.0, PADLOCK)
    assert "700.00k" not in first.raw
    without = f'{rows[0]}engine "padlock" set.\n{rows[1]}'
    assert [item.setting for item in openssl_speed.parse(without)] == [PLAIN, PADLOCK]


def test_counts_that_begin_anew_are_another_run() -> None:
    line = "Doing AES-128-GCM for 1s on 8192 size blocks: {} AES-128-GCM's in 1.00s\n"
    samples = openssl_speed.parse(line.format(1000) + line.format(3000))
    assert [sample.rate for sample in samples] == [8_192_000.0, 24_576_000.0]


def test_a_heading_that_was_not_pasted_is_assumed_and_said_so() -> None:
    sample = one("AES-256-GCM   1.00k 2.00k 3.00k 4.00k 50.00k 60.00k\n")
    assert (sample.rate, sample.block) == (60_000.0, 16384)
    assert "heading is missing" in sample.note
    unknown = one("AES-256-GCM   1.00k 2.00k 3.00k\n")
    assert unknown.rate is None


@pytest.mark.parametrize(
    ("row", "rate", "block"),
    [
        ("AES-128-GCM  1000.00k  2000.00k  3000.00k  4000.00k  5000.00k  60", 5e6, 8192),
        ("AES-128-GCM  1000.00k  2000.00k  3000.00k  4000.00k  5000.00k  60000.00", 5e6, 8192),
        ("AES-128-GCM  1000.00k  2000.00k  3000.00k  4000.00k", 4e6, 1024),
    ],
)
def test_a_cut_table_gives_what_is_whole(row: str, rate: float, block: int) -> None:
    sample = one(SIX + row)
    assert (sample.rate, sample.block) == (rate, block)


def test_block_sizes_that_were_asked_for() -> None:
    row = "AES-128-CTR    5669745.64k\n"
    large = one("type        1048576 bytes\n" + row)
    assert (large.rate, large.block, large.note) == (5_669_745_640.0, 1048576, "")
    small = one("type          1024 bytes\n" + row)
    assert small.block == 1024
    assert "1024-byte blocks only" in small.note


def test_aead_measures_other_blocks() -> None:
    text = (
        "type         2 bytes  31 bytes  136 bytes  1024 bytes  8192 bytes  16384 bytes\n"
        "AES-128-GCM  7028.39k 101517.78k 419658.83k 2215136.88k 5180920.51k 5650984.07k\n"
    )
    sample = one(text)
    assert (sample.rate, sample.block) == (5_650_984_070.0, 16384)
