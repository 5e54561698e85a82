"""Write docs/unmask.1, the manual page, from the commands and their options.

python tools/man_page.py           writes the page
python tools/man_page.py --check   ends with 1 where the page is not what it would write
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "unmask.1"
SUMMARY = "audit which CPU features hypervisors hide from encrypted guests"

DESCRIPTION = """\
A guest whose CPU model hides AES or carry-less multiplication encrypts its disks, its backups and \
its connections many times slower than the host could. @unmask@ reads hypervisors (Proxmox VE, \
libvirt) and, where it may, looks into their guests; it says what every guest's CPU really is, \
what that costs the encrypted work in it, and what to do. It can measure it, make the change with \
its costs told beforehand, prove what it has brought, and take it back.

Only @fix@, @undo@ and @recover@ ever write to a hypervisor. A target is an address such as \
@pve://HOST@ (the API of Proxmox VE), @pve+ssh://HOST@, a libvirt URI such as @qemu:///system@, \
@ssh://HOST@ for one machine without its hypervisor, a copy of files, a saved inventory, or the \
name of a configured target."""

EXIT_STATUS = (
    ("0", "Complete, and nothing at or above --fail-on was found."),
    ("1", "A finding at or above --fail-on; a move that is blocked; a problem (doctor)."),
    ("2", ("The command line, the configuration or an input file is wrong; a cost of fix is not "
     "taken on.")),
    ("3", ("A target could not be read; or, under --strict, something could not be read or "
     "checked.")),
    ("4", ("A guest is not as a change was to leave it, or that is not known; an earlier run must "
     "be recovered first.")),
    ("70", "A bug in unmask."),
    ("130", "Ctrl-C."),
)  # fmt: skip
ENVIRONMENT = (
    ("UNMASK_PVE_TOKEN", "An API token of Proxmox VE: USER@REALM!ID=SECRET."),
    ("UNMASK_PVE_USER, UNMASK_PVE_PASSWORD", "A user with its realm (root@pam), and its password."),
    ("UNMASK_SSH_PASSWORD", "The password for servers that take one."),
    ("UNMASK_DEBUG", "Where set, an error is followed by its traceback."),
    ("https_proxy, no_proxy", "The proxy towards the API of Proxmox VE, and where none is used."),
    ("SSH_AUTH_SOCK", "The SSH agent whose keys are tried."),
    ("NO_COLOR", "Where set, nothing is coloured."),
    ("COLUMNS", "The width of reports that go to no terminal."),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME", ("Where the configuration and the journal are, instead of "
     "~/.config and ~/.local/state.")),
)  # fmt: skip
FILES = (
    ("./unmask.toml, ~/.config/unmask/unmask.toml", ("Named targets, logins to guests, and what is "
     "known of them; the first that is there counts. It holds no secrets, only where they are.")),
    ("~/.local/state/unmask/runs/", "The journal of changes, for history, undo and recover."),
    ("~/.ssh/config, ~/.ssh/known_hosts", "Are honoured for every connection by SSH."),
)  # fmt: skip
EXAMPLES = (
    ("Try everything on an emulated cluster:", "unmask lab"),
    ("Audit a cluster with a token, and trust its certificate by its fingerprint:",
     ("UNMASK_PVE_TOKEN='auditor@pve!unmask=SECRET' \\\n    unmask audit pve://pve1.example "
     "--fingerprint AA:BB:...")),
    ("Audit this libvirt host, and fail from medium severity on:",
     "unmask audit qemu:///system --fail-on medium"),
    ("See what a finding means:", "unmask explain CPU001"),
    ("See what a change would do, without making it:",
     "unmask fix pve://pve1.example --vm 101 --cpu recommended --dry-run"),
    ("See why an audit does not work:", "unmask doctor pve://pve1.example"),
)  # fmt: skip
KIND = re.compile(r" <(?:str|list\[str\])>")
"""What typer says of the kind of an argument that may be anything."""
SEE_ALSO = "@virsh@(1), @qm@(1), @openssl@(1), @ssh_config@(5)"


def page() -> str:
    """Return the page as roff."""
    from unmask import __version__  # noqa: PLC0415 - `--help` of this tool needs no unmask

    version = f"unmask {__version__}"
    lines = [
        f'.TH UNMASK 1 "" "{version}" "User Commands"',  # no date: the same page every day
        ".nh",
        ".ad l",
        ".SH NAME",
        rf"unmask \- {SUMMARY}",
        ".SH SYNOPSIS",
        ".B unmask",
        r".I COMMAND",
        r"[\fIOPTIONS\fP] [\fIARGUMENTS\fP]",
        ".SH DESCRIPTION",
        *_paragraphs(DESCRIPTION),
        ".SH COMMANDS",
        *_commands(),
        ".SH OPTIONS WITHOUT A COMMAND",
        *_items(_options(_root())),
    ]
    lists = (("EXIT STATUS", EXIT_STATUS), ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES))
    for title, items in lists:
        lines += [f'.SH "{title}"', *_items(items)]
    lines.append(".SH EXAMPLES")
    for what, command in EXAMPLES:
        lines += [_text(what), ".PP", ".RS 4", ".nf", *_verbatim(command), ".fi", ".RE", ".PP"]
    del lines[-1]
    lines += [".SH SEE ALSO", _text(SEE_ALSO)]
    return "\n".join(lines) + "\n"


def _commands() -> Iterator[str]:
    from unmask.cli import overview, root  # noqa: PLC0415 - as above

    for names in overview.groups().values():
        for name in names:
            made = root.command(name)
            yield f'.SS "unmask {name}"'
            yield from _paragraphs((made.help or overview.COMMANDS[name]).strip())
            yield from _items(_options(made))


def _root() -> Any:
    from unmask.cli import root  # noqa: PLC0415 - as above

    return root.application()


def _options(command: Any) -> Iterator[tuple[str, str]]:
    """Yield how each argument and option is written, and what its help says."""
    context = command.make_context(command.name or "unmask", [], resilient_parsing=True)
    for item in command.get_params(context):
        record = item.get_help_record(context)
        if record:
            yield KIND.sub("", record[0]), record[1]


def _items(items: Any) -> Iterator[str]:
    for term, text in items:
        yield ".TP"
        yield rf"\fB{_escaped(term)}\fP"
        yield _text(text) if text else r"\&"


def _paragraphs(text: str) -> Iterator[str]:
    for number, part in enumerate(re.split(r"\n\s*\n", text)):
        if number:
            yield ".PP"
        yield _text(" ".join(part.split()))


def _text(text: str) -> str:
    """Return lines of running text; words between @ are set in bold."""
    bold = re.sub(r"(?<![\w@])@([^@\s][^@]*)@(?![\w@])", r"\\fB\1\\fP", _escaped(text))
    lines = textwrap.wrap(bold, 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join(rf"\&{line}" if line[:1] in (".", "'") else line for line in lines)


def _verbatim(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield rf"\&{_escaped(line)}" if line[:1] in (".", "'") else _escaped(line)


def _escaped(text: str) -> str:
    r"""Return text in which nothing means anything to roff; `\-` is a dash that can be copied."""
    for sign, written in (("\\", r"\e"), ("-", r"\-"), ("'", r"\(aq"), ("`", r"\(ga")):
        text = text.replace(sign, written)
    return text.replace("^", r"\(ha").replace("~", r"\(ti")


def main() -> int:
    """Write or check the page."""
    made = page()
    if sys.argv[1:] == ["--check"]:
        fresh = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made
        print(f"{PAGE.name} is {'fresh' if fresh else 'stale: run tools/man_page.py'}")
        return 0 if fresh else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
