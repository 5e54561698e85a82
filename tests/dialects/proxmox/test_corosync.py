"""corosync.conf."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import corosync
from unmask.errors import InputError

TEXT = """\
# written by hand
totem {
  cluster_name: yard
  interface {
    linknumber: 0
  }
}
nodelist {
  node {
    name: oak
    nodeid: 2
  }
  node {
    nodeid: 1
    name: elm
  }
}
logging {
  name: not-a-node
}
"""


def test_name_and_nodes() -> None:
    found = corosync.parse(TEXT)
    assert (found.cluster, found.nodes) == ("yard", ("elm", "oak"))


def test_carriage_returns_do_no_harm() -> None:
    assert corosync.parse(TEXT.replace("\n", "\r\n")) == corosync.parse(TEXT)


def test_an_empty_file_names_nothing() -> None:
    assert corosync.parse("") == corosync.Membership("", ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT[:60], "truncated"),
        ("}\n", "did not open"),
        ("\0", "binary"),
        ("x" * (corosync.LIMIT + 1), "too large"),
    ],
)
def test_damage_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        corosync.parse(text)
