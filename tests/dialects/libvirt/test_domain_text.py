"""A domain's XML in which only the <cpu> is exchanged."""

from __future__ import annotations

import random

import pytest

from unmask.dialects.libvirt import spans
from unmask.dialects.libvirt.domain_text import cpu, differences, digest, with_cpu
from unmask.errors import InputError

CPU = """<cpu mode='custom'>
    <model>qemu64</model>
  </cpu>"""

TEXT = f"""<?xml version='1.0'?>
<!-- <cpu mode='maximum'/> -->
<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>web</name>
  <metadata>
    <own:note xmlns:own='urn:own' text="a &gt; b > c"><![CDATA[<cpu>]]><own:cpu>1</own:cpu></own:note>
  </metadata>
  <cputune>
    <shares>7</shares>
  </cputune>
  {CPU}
  <clock offset='utc'/>
  <devices>
    <graphics type='vnc' port='-1' passwd='S3cret'/>
    <disk type='network'><source><cookies><cookie name='c'>S4cret</cookie></cookies></source></disk>
  </devices>
  <qemu:commandline>
    <qemu:arg value='-cpu'/>
  </qemu:commandline>
</domain>
"""  # noqa: E501 - one line, as libvirt writes metadata

OTHER = "<cpu mode='maximum'/>"


def test_the_element_is_found_among_others_that_look_alike() -> None:
    assert cpu(TEXT) == CPU
    assert cpu(TEXT.replace(f"  {CPU}\n", "")) is None


def test_only_the_element_is_exchanged() -> None:
    assert with_cpu(TEXT, OTHER) == TEXT.replace(CPU, OTHER)
    assert with_cpu(with_cpu(TEXT, OTHER), CPU) == TEXT


def test_the_element_is_taken_out_and_put_in_where_libvirt_has_it() -> None:
    without = with_cpu(TEXT, None)
    assert without == TEXT.replace(f"  {CPU}\n", "")
    assert with_cpu(without, None) == without
    assert with_cpu(without, CPU) == TEXT
    bare = "<domain type='lxc'>\n  <name>x</name>\n</domain>\n"
    assert with_cpu(bare, OTHER) == f"<domain type='lxc'>\n  <name>x</name>\n  {OTHER}\n</domain>\n"


def test_the_digest_is_of_all_but_the_cpu_and_the_way_of_writing() -> None:
    told = digest(TEXT)
    assert len(told) == 64
    assert digest(with_cpu(TEXT, OTHER)) == told
    assert digest(with_cpu(TEXT, None)) == told
    respelt = TEXT.replace("type='vnc' port='-1'", 'port="-1"\n  type="vnc"').replace("\n", "\n ")
    assert digest(respelt) == told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("web", "db"),
        ("type='kvm'", "type='qemu'"),
        ("port='-1'", "port='5900'"),
        ("a &gt; b", "a"),
        (">1<", ">2<"),
        ("<shares>7</shares>", ""),
        ("'-cpu'", "'-smp'"),
    ],
)
def test_whatever_else_changes_changes_the_digest(old: str, new: str) -> None:
    assert old in TEXT
    assert digest(TEXT.replace(old, new)) != digest(TEXT)


def test_a_digest_that_is_kept_says_nothing_of_secrets() -> None:
    for old, new in (("S3cret", "other"), (" passwd='S3cret'", ""), ("S4cret", "other")):
        changed = TEXT.replace(old, new)
        assert digest(changed) == digest(TEXT)
        assert differences(TEXT, changed) == ("devices",)


def test_differences_are_named_by_the_roots_children() -> None:
    assert differences(TEXT, with_cpu(TEXT, OTHER)) == ()
    assert differences(TEXT, TEXT.replace("'kvm'", "'qemu'")) == ("domain",)
    assert differences(TEXT, TEXT.replace("  <clock offset='utc'/>\n", "")) == ("clock",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<capabilities/>", "of a <capabilities>"),
        ("<domain><cpu/><cpu/></domain>", "2 <cpu> elements"),
        ("<domain>", "not well-formed"),
        ("<!DOCTYPE domain><domain/>", "document type"),
    ],
)
def test_what_is_no_domain_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        with_cpu(text, OTHER)


@pytest.mark.parametrize("element", ["<cpu>", "<os/>", "<cpu/><cpu/>", ""])
def test_what_is_no_cpu_is_not_put_in(element: str) -> None:
    with pytest.raises(InputError):
        with_cpu(TEXT, element)


def test_spans_are_those_of_the_parsed_children() -> None:
    """Documents made of all that XML has, against what they were made of."""
    source = random.Random(7)  # noqa: S311 - a test's, to be the same at every run
    pieces = (
        "<a/>", "<b x='>'>t</b>", "<c y=\"'/>\"><c/><d>&lt;</d></c>", "<e\n z='1'\n/>", "<f></f>",
        "<g><!-- </g> --></g>", "<h><![CDATA[</h>]]></h>", "<i><?p </i>?></i>",
        "<j:k xmlns:j='u'/>",
    )  # fmt: skip
    between = ("", "\n ", "text", "<!-- <z> -->", "<?q <z>?>")
    for _ in range(300):
        chosen = [source.choice(pieces) for _ in range(source.randrange(8))]
        body = "".join(source.choice(between) + piece for piece in chosen) + source.choice(between)
        text = f"<?xml version='1.0'?><!-- <r> --><r s='/>'>{body}</r>"
        found = spans.children(text)
        assert [text[span.start : span.end] for span in found] == chosen
        assert text[spans.contents_end(text) :] == "</r>"


def test_an_empty_root_has_no_children() -> None:
    assert spans.children("<cpu mode='maximum'/>") == ()
    assert spans.contents_end("<cpu/>") == len("<cpu/>")
