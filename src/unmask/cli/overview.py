"""The commands there are, and the page that `unmask` and `unmask --help` print.

The page is made here and not by typer, whose import alone takes four times as long as Python's own
start.
"""

from __future__ import annotations

COMMANDS = {
    "audit": "Show what every guest's CPU really is, and what is wrong with it.",
    "collect": "Read hypervisors and guests and save that, to be judged elsewhere.",
    "diff": "Show what changed between two audits.",
    "bench": "Measure the cryptography of guests, and say why it is as fast as it is.",
    "baseline": "Show which CPU flags and models all nodes have in common.",
    "migrate-check": "Show which guests can move where, alive or stopped, and why not.",
    "fix": "Change the CPU of guests: a plan, its costs, the change, the proof.",
    "undo": "Give guests back the CPU that they had before a run.",
    "recover": "Look at guests that a run has left in the middle of a change.",
    "history": "Show what was changed from here, and what became of it.",
    "models": "Show which CPU flags the named CPU models have.",
    "explain": "Explain a finding: why it matters, how it is decided, what to do.",
    "config": "Tell which configured targets work, and which privileges they lack.",
    "doctor": "Check installation, configuration and targets, and say what to do.",
    "lab": "Start an emulated Proxmox VE cluster to try everything on.",
}
"""Each command's name, which is also its module's in `unmask.cli` (`_` for `-`), with its
summary."""

GROUPS = {
    "Look": ("audit", "collect", "diff", "baseline", "migrate-check"),
    "Measure": ("bench",),
    "Change": ("fix", "undo", "recover", "history"),
    "Help": ("explain", "models", "config", "doctor", "lab"),
}
"""What a command is for; one that is in none of them is shown with the first."""

_WIDTH = 80
"""Columns of the page, as every terminal has them."""
_PAGE = """\
Usage: unmask COMMAND [OPTIONS]

Audits which CPU features hypervisors hide from encrypted guests, and gives
them back.

Begin with one of these. None of them changes anything:
  unmask audit                     the configured targets, else this hypervisor
  unmask audit pve://pve1.example  a Proxmox VE cluster, by its API
  unmask audit pve+ssh://pve1      a Proxmox VE cluster, by any of its nodes
  unmask audit qemu:///system      a libvirt host
  unmask audit ssh://user@server   a rented machine, from inside
  unmask lab                       an emulated cluster to try everything on
  unmask doctor                    what is missing where an audit does not work

{commands}

Options:
  --version                   Show the version.
  --help                      Show this page; after a command, that command's.
  --show-completion SHELL     Print the completion script for bash, zsh or fish.
  --install-completion SHELL  Install it for the current user.

More: unmask help COMMAND shows a command's options, unmask explain CODE what a
finding means; man unmask has everything on one page.

Exit codes:
  0   complete, no finding at or above --fail-on
  1   a finding at or above --fail-on
  2   the command line or a configuration file is wrong
  3   a target could not be read, whatever was found in others; or, under
      --strict, something could not be read or checked
  4   a guest is not as a change was to leave it, or that is not known
  70  a bug in unmask
"""


def page() -> str:
    """Return the page, ending with a line break."""
    indent = max(map(len, COMMANDS)) + 4
    blocks = []
    for title, names in groups().items():
        lines = (f"  {name:<{indent - 2}}{_wrapped(COMMANDS[name], indent)}" for name in names)
        blocks.append("\n".join((f"{title}:", *lines)))
    return _PAGE.format(commands="\n\n".join(blocks))


def groups() -> dict[str, list[str]]:
    """Return the commands there are by what they are for."""
    known = {name for names in GROUPS.values() for name in names}
    found = {title: [name for name in names if name in COMMANDS] for title, names in GROUPS.items()}
    found[next(iter(found))] += [name for name in COMMANDS if name not in known]
    return found


def _wrapped(text: str, indent: int) -> str:
    """Return `text` in lines of the page that start at `indent`.

    By hand, for the imports of `textwrap` would be most of the start.
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if indent + len(longer) > _WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    return f"\n{' ' * indent}".join(lines)
