"""What each view of a CPU was measured to do, in MB/s: by OpenSSL 3.0 unless a name says so."""

from support.benches import ILLEGAL, Rates
from unmask.model.bench import FORCED, MASKED, PLAIN, WITHOUT_PCLMULQDQ

BOTH = "aes pclmulqdq ssse3 hypervisor"
AES_ALONE = "aes ssse3 hypervisor"
NEITHER = "ssse3 hypervisor"
"""Flags as a guest's kernel lists them."""

NATIVE: Rates = {
    "aes-256-gcm": {PLAIN: 4261, MASKED: 205, WITHOUT_PCLMULQDQ: 431, FORCED: 2966},
    "aes-256-ctr": {PLAIN: 6317, MASKED: 366, FORCED: 6171},
    "chacha20-poly1305": {PLAIN: 3427},
}
HIDDEN: Rates = {
    "aes-256-gcm": {PLAIN: 205, MASKED: 204, WITHOUT_PCLMULQDQ: 206, FORCED: 2966},
    "aes-256-ctr": {PLAIN: 366, MASKED: 365, FORCED: 6171},
    "chacha20-poly1305": {PLAIN: 892},
}
PARTIAL: Rates = {
    "aes-256-gcm": {PLAIN: 450, MASKED: 205, WITHOUT_PCLMULQDQ: 449, FORCED: 2966},
    "aes-256-ctr": {PLAIN: 6319, MASKED: 366, FORCED: 6171},
    "chacha20-poly1305": {PLAIN: 892},
}
PARTIAL_1_1_1: Rates = {
    "aes-256-gcm": {PLAIN: 736, MASKED: 139, WITHOUT_PCLMULQDQ: 730, FORCED: 3827},
    "aes-256-ctr": {PLAIN: 6770, MASKED: 137, FORCED: 8517},
}
OLD_SILICON: Rates = {
    "aes-256-gcm": {PLAIN: 60, MASKED: 61, WITHOUT_PCLMULQDQ: 60, FORCED: ILLEGAL},
    "aes-256-ctr": {PLAIN: 110, MASKED: 111, FORCED: ILLEGAL},
}
EMULATED: Rates = {
    "aes-256-gcm": {PLAIN: 23.9, MASKED: 23.6, WITHOUT_PCLMULQDQ: 20.8, FORCED: ILLEGAL},
    "chacha20-poly1305": {PLAIN: 114},
}
