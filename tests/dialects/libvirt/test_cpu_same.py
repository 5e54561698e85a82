"""Whether two <cpu> elements ask for the same."""

from __future__ import annotations

import pytest

from unmask.dialects.libvirt.cpu_same import same

WRITTEN = (
    "<cpu><model>Westmere</model><feature name='aes'/>"
    "<topology sockets='1' cores='1' threads='1'/><numa><cell cpus='0' memory='1'/></numa></cpu>"
)
KEPT = """<cpu mode='custom' match='exact' check='none'>
    <model fallback='allow'>Westmere</model>
    <topology sockets='1' dies='1' cores='1' threads='1'/>
    <feature policy='require' name='aes'/>
    <numa>
      <cell id='0' cpus='0' memory='1' unit='KiB'/>
    </numa>
  </cpu>"""


def test_defaults_that_libvirt_writes_out_do_not_count() -> None:
    assert same(WRITTEN, KEPT)
    assert same(KEPT, WRITTEN)
    passed = "<cpu mode='host-passthrough'/>"
    assert same(passed, "<cpu mode='host-passthrough' check='none' migratable='on'/>")
    dropped = "<cpu mode='host-passthrough'><model>Westmere</model></cpu>"
    assert same(passed, dropped)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Westmere", "Nehalem"),
        ("'require'", "'disable'"),
        ("'aes'", "'avx'"),
        ("check='none'", "check='partial'"),
        ("match='exact'", "match='strict'"),
        ("fallback='allow'", "fallback='forbid'"),
        ("mode='custom'", "mode='host-model'"),
        ("cores='1'", "cores='2'"),
        ("dies='1'", "dies='2'"),
        ("id='0'", "id='1'"),
        ("unit='KiB'", "unit='MiB'"),
        ("<feature policy='require' name='aes'/>", ""),
        ("<numa>", "<cache level='3' mode='emulate'/><numa>"),
        ("</cpu>", "</cpu"),
    ],
)
def test_whatever_else_differs_counts(old: str, new: str) -> None:
    assert old in KEPT
    changed = KEPT.replace(old, new)
    assert not same(KEPT, changed)
    assert not same(changed, KEPT)


def test_no_element_is_like_no_other() -> None:
    assert same(None, None)
    assert not same(None, "<cpu/>")
    assert not same("<cpu/>", None)
    assert not same("<cpu mode='maximum' migratable='off'/>", "<cpu mode='maximum'/>")
