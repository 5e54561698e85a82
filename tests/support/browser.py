"""A real Chromium without a window or a network, and somebody who reads pages in it.

    def test_x(reader: Reader) -> None:
        page = reader.open(path, PHONE)  # a playwright Page

What a page must not do (ask for anything but itself, write to the console as an error or a warning,
break its own content security policy, raise, open a dialog or a window) fails the test at its end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Dialog,
    Error,
    Page,
    Playwright,
    sync_playwright,
)

from support import peers

PROGRAMS = ("chromium", "google-chrome", "chromium-browser")
"""In the order in which tools/setup.sh looks for them."""
PATIENCE = 120_000
"""Milliseconds that anything may take: pages may be long, and the machine busy."""
LOUD = frozenset({"error", "warning", "assert"})
"""Types of console messages that nobody should have to see."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is looked at; sizes in CSS pixels."""

    width: int = 1280
    height: int = 960
    dark: bool = False
    phone: bool = False
    """Two pixels a CSS pixel, a finger, and a browser that obeys <meta name=viewport>."""
    script: bool = True
    forced_colors: bool = False
    """Windows' high contrast."""
    still: bool = False
    """The reader prefers reduced motion."""

    @property
    def name(self) -> str:
        """Return "phone-dark" and the like, for names of files and tests."""
        return f"{'phone' if self.phone else 'desktop'}-{'dark' if self.dark else 'light'}"


DESKTOP = Look()
DESKTOP_DARK = Look(dark=True)
PHONE = Look(390, 844, phone=True)
PHONE_DARK = Look(390, 844, phone=True, dark=True)
LOOKS = (DESKTOP, DESKTOP_DARK, PHONE, PHONE_DARK)


@dataclass
class Reader:
    """Opens pages, and keeps what they did that they must not do."""

    browser: Browser
    faults: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)

    def open(self, file: Path, look: Look = DESKTOP) -> Page:
        """Return a file's page, loaded."""
        return self.visit(file.as_uri(), look)

    def visit(self, address: str, look: Look = DESKTOP) -> Page:
        """Return the page at a file: or data: address, loaded."""
        context = self.browser.new_context(
            viewport={"width": look.width, "height": look.height},
            color_scheme="dark" if look.dark else "light",
            device_scale_factor=2 if look.phone else 1,
            is_mobile=look.phone,
            has_touch=look.phone,
            java_script_enabled=look.script,
            forced_colors="active" if look.forced_colors else "none",
            reduced_motion="reduce" if look.still else "no-preference",
            permissions=["clipboard-read", "clipboard-write"],
            locale="en-US",
            offline=True,
            accept_downloads=False,
        )
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        page = context.new_page()
        self._watch(context, page, address)
        page.goto(address)
        return page

    def _watch(self, context: BrowserContext, page: Page, address: str) -> None:
        def blame(what: str, detail: str) -> None:
            self.faults.append(f"{what}: {detail[:500]}")

        def asked(url: str) -> None:
            if url.partition("#")[0] != address and not url.startswith("data:"):
                blame("request", url)

        def opened(dialog: Dialog) -> None:
            blame("dialog", dialog.message)
            dialog.dismiss()

        context.on("request", lambda request: asked(request.url))
        context.on("page", lambda window: blame("window", window.url))
        context.on("weberror", lambda error: blame("script", str(error.error)))
        page.on("crash", lambda _: blame("crash", address))
        page.on("download", lambda download: blame("download", download.url))
        page.on("websocket", lambda socket: blame("websocket", socket.url))
        page.on("dialog", opened)
        page.on(
            "console",
            lambda said: blame(f"console {said.type}", said.text) if said.type in LOUD else None,
        )

    def close(self) -> None:
        """Close every page."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()


@cache
def executable() -> str:
    """Return the path of a Chromium that runs; Ubuntu's is a stub that asks for a snap."""
    places = filter(None, (shutil.which(name, path=peers.SEARCH_PATH) for name in PROGRAMS))
    return next(filter(_runs, places), "") or peers.missing("Chromium (`make test` installs it)")


def _runs(path: str) -> bool:
    done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    return done.returncode == 0


def started(playwright: Playwright) -> Browser:
    """Return a running Chromium."""
    return playwright.chromium.launch(
        executable_path=executable(),
        chromium_sandbox=os.geteuid() != 0,  # root cannot have one
        env=dict(peers.environment()),
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Run Chromium for as long as the tests last; each test's pages are in a profile of its own."""
    with sync_playwright() as playwright:
        try:
            running = started(playwright)
        except Error as error:
            peers.missing(f"Chromium, which does not start: {error.message.splitlines()[0]}")
        yield running
        running.close()


@pytest.fixture
def reader(browser: Browser) -> Iterator[Reader]:
    """Return somebody who reads pages; the test fails where one has done what it must not do."""
    someone = Reader(browser)
    yield someone
    someone.close()
    assert someone.faults == []
