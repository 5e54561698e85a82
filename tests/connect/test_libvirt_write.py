"""What an error of libvirt's means to whoever told it to do something."""

from __future__ import annotations

import pytest

from unmask.connect.libvirt_write import DeniedError, RefusalError, explained
from unmask.errors import TargetError

SCHEMA = """XML document failed to validate against schema: Unable to validate doc against \
/usr/share/libvirt/schemas/domain.rng
Extra element cpu in interleave
Element domain failed to validate content
"""


@pytest.mark.parametrize(
    ("code", "domain", "text", "kind", "said"),
    [
        (29, 10, "operation forbidden: read only access", DeniedError, "needs write access"),
        (88, 23, "access denied: 'QEMU' denied", DeniedError, "polkit.* has to allow it"),
        (1, 47, "Unable to get system bus connection", DeniedError, "needs write access"),
        (42, 10, "Domain not found", TargetError, "x:///: the guest is not there any more"),
        (38, 7, "Cannot recv data: reset", TargetError, "x:///: the connection .* was lost"),
        (1, 7, "internal error: client socket is closed", TargetError, "was lost"),
        (39, 7, "Unable to encode message payload", RefusalError, "libvirt says: Unable"),
        (38, 10, "cannot open file", RefusalError, "libvirt says: cannot open file"),
        (67, 31, "Unknown CPU model X\nmore", RefusalError, "libvirt says: Unknown CPU model X$"),
        (92, 20, SCHEMA, RefusalError, "domain.rng; Extra element cpu in interleave; Element"),
        (1, 0, "a\x1b[2Jb" + "x" * 900, RefusalError, r"^libvirt says: a \[2Jbx{290,294}$"),
        (1, 0, "", RefusalError, "no reason given"),
    ],
)
def test_errors(code: int, domain: int, text: str, kind: type[Exception], said: str) -> None:
    found = explained("x:///", "do it", code, domain, text)
    assert type(found) is kind
    with pytest.raises(kind, match=said):
        raise found
