"""The tests' own reader notices what a page must not do; else its silence would prove nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.browser import DESKTOP, PHONE, Look, Reader

POLICY = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
FAULTS = {
    "console error": "<script>console.error('broken')</script>",
    "console warning": "<script>console.warn('odd')</script>",
    "script: thrown": "<script>throw new Error('thrown')</script>",
    "script: later": "<script>Promise.reject(new Error('later'))</script>",
    "request: https://example.org/a.png": "<img src=https://example.org/a.png>",
    "request: file:///etc/hostname": "<iframe src=/etc/hostname></iframe>",
    "dialog: who": "<script>alert('who')</script>",
    "Content Security Policy": f"{POLICY}<style>p {{ color: red }}</style>",
    "request: https://example.org/beacon": (
        "<script>fetch('https://example.org/beacon').catch(() => 0)</script>"
    ),
}


def write(folder: Path, body: str) -> Path:
    file = folder / "page.html"
    file.write_text(f"<!doctype html><title>x</title>{body}", encoding="utf-8")
    return file


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(fault: str, reader: Reader, tmp_path: Path) -> None:
    page = reader.open(write(tmp_path, FAULTS[fault]))
    page.wait_for_timeout(100)
    found, reader.faults = reader.faults, []
    assert any(fault in one for one in found), found


def test_a_quiet_page_has_none(reader: Reader, tmp_path: Path) -> None:
    body = (
        "<p>fine<script>console.log('as it should')</script><img alt='' src='data:image/gif;base64,"
    )
    page = reader.open(write(tmp_path, f"{body}R0lGODlhAQABAAAAACwAAAAAAQABAAA='>"))
    assert page.inner_text("p") == "fine"


def test_a_look_is_what_the_page_sees(reader: Reader, tmp_path: Path) -> None:
    body = "<meta name=viewport content='width=device-width'><p><noscript>silent</noscript>"
    file = write(tmp_path, body)
    asked = "[innerWidth, devicePixelRatio, matchMedia('(prefers-color-scheme: dark)').matches]"
    assert reader.open(file, DESKTOP).evaluate(asked) == [1280, 1, False]
    assert reader.open(file, PHONE).evaluate(asked) == [390, 2, False]
    assert reader.open(file, Look(700, 500, dark=True)).evaluate(asked) == [700, 1, True]
    silent = reader.open(file, Look(script=False))
    assert silent.inner_text("noscript") == "silent"
    assert silent.evaluate("1 + 1") == 2  # the tests' own questions are answered all the same
