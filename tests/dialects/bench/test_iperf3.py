"""`iperf3`: what a link carries."""

import json

import pytest

from unmask.dialects.bench import iperf3
from unmask.model.bench import Ended, Tool

LINES = """\
Connecting to host 192.0.2.1, port 5201
[  5]   0.00-1.00   sec  1.10 GBytes  9.44 Gbits/sec    0    895 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  10.9 GBytes  9.40 Gbits/sec    0             sender
[  5]   0.00-10.04  sec  10.9 GBytes  9.36 Gbits/sec                  receiver

iperf Done.
"""


def found(text: str) -> list[tuple[str, object, str]]:
    return [(item.algorithm, item.rate, item.note) for item in iperf3.parse(text)]


def test_the_receivers_figure_counts() -> None:
    (sample,) = iperf3.parse(LINES, status=0)
    assert (sample.tool, sample.algorithm, sample.ended) == (Tool.NETWORK, "link", Ended.WELL)
    assert sample.rate == pytest.approx(9.36e9 / 8)
    assert sample.seconds == pytest.approx(10.04)


def test_the_senders_figure_is_said_to_be_that() -> None:
    text = "\n".join(line for line in LINES.splitlines() if "receiver" not in line)
    ((name, rate, note),) = found(text + "\n")
    assert (name, rate) == ("link", pytest.approx(9.40e9 / 8))
    assert "sender" in note


def test_streams_are_taken_together() -> None:
    text = (
        "Reverse mode, remote host 192.0.2.1 is sending\n"
        "[  5]   0.00-1.00   sec  1.25 GBytes  10.7 Gbits/sec                  receiver\n"
        "[  7]   0.00-1.00   sec  1.22 GBytes  10.4 Gbits/sec                  receiver\n"
        "[SUM]   0.00-1.00   sec  2.47 GBytes  21.3 Gbits/sec   70             sender\n"
        "[SUM]   0.00-1.00   sec  2.47 GBytes  21.2 Gbits/sec                  receiver\n"
    )
    assert found(text) == [("link-reverse", pytest.approx(21.2e9 / 8), "")]


def test_both_directions_at_once() -> None:
    text = (
        "[  5][TX-C]   0.00-1.00   sec  1.59 GBytes  13.6 Gbits/sec    2             sender\n"
        "[  5][TX-C]   0.00-1.00   sec  1.58 GBytes  13.5 Gbits/sec                  receiver\n"
        "[  7][RX-C]   0.00-1.00   sec  1.41 GBytes  12.2 Gbits/sec    0             sender\n"
        "[  7][RX-C]   0.00-1.00   sec  1.41 GBytes  12.1 Gbits/sec                  receiver\n"
    )
    assert found(text) == [
        ("link", pytest.approx(13.5e9 / 8), ""),
        ("link-reverse", pytest.approx(12.1e9 / 8), ""),
    ]


def test_bytes_are_in_powers_of_1024_and_bits_are_not() -> None:
    line = "[  5]   0.00-1.00   sec  2.75 GBytes  2816 MBytes/sec                  receiver\n"
    assert found(line) == [("link", 2816 * 1024.0**2, "")]
    datagrams = (
        "[  5]   0.00-1.00   sec  11.9 MBytes   100 Mbits/sec  0.013 ms  0/382 (0%)  receiver\n"
    )
    assert found(datagrams) == [("link", 12_500_000.0, "")]


def test_json() -> None:
    end = {
        "sum_sent": {"bits_per_second": 9.9e9, "seconds": 10},
        "sum_received": {"bits_per_second": 8e9, "seconds": 10.1},
    }
    assert found(json.dumps({"end": end})) == [("link", 1e9, "")]
    reverse = {"start": {"test_start": {"reverse": 1}}, "end": end}
    assert found(json.dumps(reverse)) == [("link-reverse", 1e9, "")]
    both = {"end": {**end, "sum_received_bidir_reverse": {"bits_per_second": 4e9}}}
    assert found(json.dumps(both)) == [("link", 1e9, ""), ("link-reverse", 5e8, "")]
    datagrams = {"end": {"sum": {"bits_per_second": 8e6, "seconds": 1}}}
    assert found(json.dumps(datagrams)) == [("link", 1e6, "")]


@pytest.mark.parametrize(
    ("text", "status", "ended", "words"),
    [
        (
            "iperf3: error - unable to connect to server: Connection refused\n",
            1,
            Ended.FAILED,
            "refused",
        ),
        (
            '{"end": {}, "error": "unable to connect to server"}',
            1,
            Ended.FAILED,
            "unable to connect",
        ),
        ('{"end": {"sum_received": {"bits_per_second": 0}}}', 0, Ended.INVALID, "zero"),
        ('{"end": {"sum_received": {"bits_per_second": "x"}}}', 0, Ended.INVALID, "not what"),
        ('{"end": {"sum_received": {"bits_per_second": 1e999}}}', 0, Ended.INVALID, "not a number"),
        ("sh: iperf3: not found\n", 127, Ended.FAILED, "iperf3 is not there"),
        ("", None, Ended.FAILED, "printed nothing"),
        ("hello\n", None, Ended.INVALID, "not what `iperf3` prints"),
    ],
)
def test_no_figure(text: str, status: int | None, ended: Ended, words: str) -> None:
    (sample,) = iperf3.parse(text, status=status)
    assert (sample.algorithm, sample.ended, sample.rate) == ("link", ended, None)
    assert words in sample.note
