"""A domain of a real libvirtd without disks, and the target that changes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from support.domain_xml import document
from support.libvirtd import PREFIX, Libvirtd
from unmask.fixes._target import open_target
from unmask.fixes.libvirt import LibvirtTarget
from unmask.model.change import Place
from unmask.model.inventory import Platform
from unmask.model.source import CollectOptions

NAME = f"{PREFIX}target"
DEVICES = "<devices><graphics type='vnc' port='-1' autoport='yes' passwd='S3cret'/>"
WESTMERE = """<cpu mode='custom' match='exact' check='none'>
    <model fallback='forbid'>Westmere</model>
  </cpu>"""


@dataclass
class Domain:
    """A domain without disks, and the target that changes it."""

    libvirtd: Libvirtd
    target: LibvirtTarget
    place: Place

    def xml(self, *options: str) -> str:
        chosen = options or ("--inactive", "--security-info")
        return self.libvirtd.virsh("dumpxml", *chosen, NAME)

    def edit(self, old: str, new: str) -> None:
        """Change its definition as somebody else would."""
        text = self.xml()
        assert old in text
        self.libvirtd.define(text.replace(old, new))

    def told(self, what: str, *options: str) -> None:
        self.libvirtd.virsh(what, NAME, *options)


def place(libvirtd: Libvirtd, uri: str = "") -> Place:
    """Return where the domain is; `uri` is another way to the same libvirtd."""
    ident = libvirtd.virsh("domuuid", NAME).strip()
    return Place(uri or libvirtd.uri, f"host/{NAME}", ident, NAME, Platform.LIBVIRT)


@contextmanager
def changeable(libvirtd: Libvirtd) -> Iterator[Domain]:
    """Define the domain and connect to it; whoever has the libvirtd removes it."""
    libvirtd.define(document(NAME).replace("<devices>", DEVICES))
    where = place(libvirtd)
    with closing(open_target(where, CollectOptions(timeout=30))) as target:
        assert isinstance(target, LibvirtTarget)
        yield Domain(libvirtd, target, where)
