"""Which driver FreeBSD's kernel has for AES, as far as its messages and modules tell.

aesni(4) has to be loaded: pfSense does not do that unless it is told to. cryptosoft0 attaches on
every system, so that it says something only where nothing else has.
"""

from __future__ import annotations

from unmask.crypto.ciphers import family
from unmask.model.inside import Inside, KernelCrypto
from unmask.workloads._asked import said

FAST, PLAIN = "aesni0", "cryptosoft0"
OTHERS = ("ossl", "qat", "ccp", "safexcel", "armv8crypto", "padlock")
"""Drivers that may do it as well; which of several is taken is not known."""
_AES = ("", "xts", "cbc", "ctr", "gcm", "ccm")


def driver(inside: Inside | None, cipher: str) -> str:
    """Return the driver for a cipher; "" where that is not sure, and for what is not AES."""
    kernel = said(inside.kernel_crypto, None) if inside else None
    if kernel is None or family(cipher) not in _AES or any(_there(kernel, name) for name in OTHERS):
        return ""
    attached = [device for device in kernel.devices if device.startswith("aesni")]
    if any("AES-" in device for device in attached):
        return FAST
    seen = any(device.startswith("cryptosoft") for device in kernel.devices)
    return PLAIN if seen and not attached and not kernel.loaded("aesni") else ""


def sentences(driver_name: str) -> tuple[str, ...]:
    """Return what tells of the driver, as evidence."""
    if driver_name == PLAIN:
        return ("FreeBSD's kernel has no driver for AES but cryptosoft: aesni(4) is not loaded.",)
    return ("FreeBSD's aesni(4) has attached.",) if driver_name else ()


def _there(kernel: KernelCrypto, name: str) -> bool:
    return kernel.loaded(name) or any(device.startswith(name) for device in kernel.devices)
