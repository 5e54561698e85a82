import pytest

from unmask.dialects.libvirt import xml
from unmask.errors import InputError

BOMB = "<!DOCTYPE d [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><domain>&b;</domain>"
OUTSIDE = "<!DOCTYPE d [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><domain>&f;</domain>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "document type or entities"),
        (OUTSIDE, "document type or entities"),
        ("<!DOCTYPE domain SYSTEM 'http://host.invalid/d.dtd'><domain/>", "document type"),
        ("<domain><cpu>", "not well-formed XML"),
        ("", "is empty; export it again with `virsh dumpxml`, `capabilities` or"),
        (" \n", "is empty"),
        ("no XML at all", "not well-formed XML"),
        ("<domain>&undeclared;</domain>", "not well-formed XML"),
        ("<domain><qemu:commandline/></domain>", "not well-formed XML"),
        ("<domain/>\0", "binary"),
        ("<domain/>" + " " * xml.LIMIT, "larger than 8 MiB"),
        ("<a>" * 101 + "</a>" * 101, "nests elements more than 100 deep"),
    ],
)
def test_what_is_refused_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"^the file x\.xml ") as caught:
        xml.parse(text, "the file x.xml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_deepest_that_is_accepted() -> None:
    assert xml.parse("<a>" * 100 + "</a>" * 100, "it").tag == "a"


def test_comments_and_declarations_are_no_content() -> None:
    root = xml.parse("<?xml version='1.0' encoding='UTF-8'?><!-- x --><d><!-- <e/> --></d>", "it")
    assert (root.tag, len(root)) == ("d", 0)


def test_text_of_a_path() -> None:
    root = xml.parse("<d><os><type> hvm\n</type></os><name/></d>", "it")
    assert xml.text_of(root, "os/type") == "hvm"
    assert xml.text_of(root, "name") == ""
    assert xml.text_of(root, "absent", "default") == "default"
    assert xml.text_of(None, "name") == ""


def test_an_element_is_written_as_one_bounded_line() -> None:
    root = xml.parse("<cpu mode='custom'>\n  <model>EPYC</model>\n</cpu>", "it")
    assert xml.written(root) == '<cpu mode="custom"><model>EPYC</model></cpu>'
    assert xml.written(None) == ""
    long = xml.written(xml.parse(f"<cpu>{'<feature/>' * 1000}</cpu>", "it"))
    assert len(long) == xml.WRITTEN
    assert long.endswith("...")


def test_children_of_nothing() -> None:
    assert list(xml.children(None, "cpu")) == []
