"""What helps and what does not, in the sentences that several diagnoses share."""

from __future__ import annotations

PORTABLE = (
    "Change the guest's CPU type on the hypervisor to one that shows aes and pclmulqdq: host, or a "
    "named model from Westmere on. Proxmox's x86-64-v2-AES, v3 and v4 show no pclmulqdq."
)
SHOW_PCLMULQDQ = (
    "Show pclmulqdq beside aes: by host, a named model from Westmere on, or a custom model. "
    "Proxmox's x86-64-v2-AES, v3 and v4 lack it, and no flags= of a guest can add it."
)
PREFER_CHACHA = "Until then prefer ChaCha20-Poly1305 where it is faster here."
ADVISE = (
    "If the hypervisor cannot be changed: --advise prints what can be set in the guest for "
    "programs that use OpenSSL."
)
FIRMWARE = 'Look for AES-NI ("AES instructions") in the firmware setup of the node.'
ELSEWHERE = (
    "Where it is not there: prefer ChaCha20-Poly1305, or move the guest to a node with AES-NI."
)
MEASURE_FORCED = (
    "Measure again with the forced run, or on the node: whether the silicon has AES-NI was not "
    "seen."
)
LOOK_AT_TYPE = "On a hypervisor's guest: look at its CPU type, which is the usual reason."
MEASURE_MORE = (
    "Measure with the masked and the forced run as well, with 8 or 16 KiB blocks and -evp."
)
MEASURE_MASKED = (
    'Measure both again, the masked run with OPENSSL_ia32cap="~0x200000200000000" before the '
    "command, and the other without any."
)
USE_KVM = (
    "Give the guest KVM (Proxmox: no `kvm: 0`; libvirt: domain type kvm); on the node, see that "
    "/dev/kvm is there and virtualisation is on in the firmware."
)
USE_NESTING = "Where the node is a guest itself: turn on nested virtualisation below it."
CLEARCPUID = "Without a variable, look for clearcpuid= on the kernel's command line."
BUILD = (
    "See that the library was built with its assembly code, for this architecture, and that the "
    "program uses this library."
)
REMOVE = "Remove the variable from the environment of the programs that encrypt."
LOAD_AESNI = "See that the module aesni_intel is there, not forbidden, and loaded."
FIND_VARIABLE = "Look for OPENSSL_ia32cap in the environment: forced, the same library uses it."
FIND_OR_BUILD = "Look for OPENSSL_ia32cap in the environment, and at how the library was built."
LESS_TO_DO = "Give the node less to do, move the guest, or give it more weight or a reservation."
NEIGHBOURS = (
    "Look for others on the same cores: an overcommitted node, a limit on the guest's processor "
    "time, its power saving."
)
PADLOCK = (
    "Turn the engine on for all programs in openssl.cnf, or for Apache by SSLCryptoDevice: "
    "--advise prints the lines."
)
PADLOCK_DISKS = "For encrypted disks load padlock_aes, which the kernel uses by itself."
ARM_CHACHA = (
    "Prefer ChaCha20-Poly1305 where the CPU has no AES instructions (a Raspberry Pi 4 and older "
    "has none)."
)
LOOK_OUTSIDE = (
    "Look at the outer hypervisor first: what it hides from the node, no CPU type on the node can "
    "show."
)

OVERRIDE_REACH = (
    "OPENSSL_ia32cap reaches programs that use OpenSSL only: not the kernel (LUKS, IPsec), not "
    "ZFS, not Go or Java."
)
MORE_PROCESSORS = (
    "More virtual processors do not help: one stream of encryption runs on one processor."
)
REBOOT = (
    "A reboot from inside does not help: the CPU type takes effect when the guest is stopped and "
    "started on its hypervisor."
)
MODULE = "Loading aesni_intel does not help: without the flag it refuses."
LEVELS = "A higher x86-64 level does not help: none contains pclmulqdq."
OTHER_MODES = "CTR, CBC and XTS (LUKS) gain nothing: they need AES-NI alone."
SILICON = "Another CPU type does not help: a hypervisor cannot show what the silicon lacks."
FORCING_DIES = "OPENSSL_ia32cap does not help: programs that are forced die."
SHOWN = "Another CPU type of the guest does not help: what it would show is shown."
SHARING = "More virtual processors make it worse where they have to share."
WHILE_EMULATED = "Another CPU type does not help while the CPU is emulated."
