"""A guest's root directory and programs that are full of secrets, and hostile files."""

from __future__ import annotations

import os
from pathlib import Path

SECRETS = (
    "hunter2-passphrase",
    "s3cr3t-psk-value",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=",
    "AKIAIOSFODNN7EXAMPLE",
    "TlsPrivateKeyBody",
    "111111-222222-333333-444444-555555-666666-777777-888888",
)
PASS, PSK, HEX, BASE64, ACCESS, PEM, RECOVERY = SECRETS

FILES = {
    "etc/os-release": f'ID=debian\nVERSION_ID="12"\nSECRET="{PASS}"\n',
    "proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu lm aes\n\n",
    "proc/cmdline": f"root=/dev/vda1 luks.passphrase={PASS} clearcpuid=153\n",
    "proc/mounts": f"/a /b ecryptfs rw,ecryptfs_cipher=aes,ecryptfs_sig={HEX},key={PASS} 0 0\n",
    "proc/crypto": "name         : xts(aes)\ndriver       : xts-aes-aesni\npriority     : 401\n",
    "proc/misc": "236 device-mapper\n",
    "proc/net/netlink": "sk Eth Pid Groups\n0 0 0 00000000\n0 6 0 00000000\n",
    "proc/net/pfkey": "sk RefCnt\n",
    "etc/crypttab": (
        f"data UUID=1 {PASS} luks\nswap /dev/sdb /etc/{PSK} plain,cipher=aes-xts-plain64\n"
    ),
    "etc/openvpn/server/a.conf": (
        f"server 10.8.0.0 255.255.255.0\nauth-user-pass {PASS}\naskpass {PSK}\n"
        "data-ciphers AES-256-GCM\n"
        f"management 127.0.0.1 7 {PASS}\n<key>\n{PEM}\n</key>\n<secret>\n{HEX}\n</secret>\n"
    ),
    "etc/openvpn/client.conf": f"client\nsecret /etc/{PASS}\ncipher AES-256-CBC\n",
    "etc/swanctl/conf.d/a.conf": (
        f"secrets {{\n ike-1 {{\n  secret = {PSK}\n }}\n}}\n esp_proposals = aes256gcm16\n"
    ),
    "etc/ipsec.conf": f"conn a\n  esp=aes256gcm16\n  # {PASS}\n",
    "etc/ipsec.secrets": f': PSK "{PSK}"\n',
    "etc/nginx/nginx.conf": f"listen 443 ssl;\nssl_password_file /x/{PASS};\n# {PEM}\n",
    "etc/haproxy/haproxy.cfg": f"stats auth admin:{PASS}\nbind :443 ssl crt /etc/a.pem\n",
    "etc/mysql/conf.d/a.cnf": (
        f"password={PASS}\nssl_cert=/etc/{PSK}\nssl_passphrase={PASS}\nssl\n"
    ),
    "etc/mongod.conf": f"  tls:\n    mode: requireTLS\n    certificateKeyFilePassword: {PASS}\n",
    "etc/redis/redis.conf": f"requirepass {PASS}\ntls-port 6380\ntls-key-file-pass {PSK}\n",
    "etc/samba/smb.conf": f"[global]\nsmb encrypt = required\nldap admin dn = {PASS}\n",
    "etc/cron.d/backup": f"RESTIC_PASSWORD={PASS}\nAWS={ACCESS}\n1 1 * * * root restic -p {PSK}\n",
    "etc/systemd/system/borg.service": f"Environment=PASSPHRASE={PASS}\nExecStart=borg create\n",
    "etc/environment": f"OPENSSL_ia32cap=~0x200000200000000\nTOKEN={PASS}\n",
    "etc/ssh/sshd_config": f"Ciphers aes256-ctr\n# {PASS}\n",
    "sys/block/dm-0/dm/name": "data\n",
    "sys/block/dm-0/dm/uuid": "CRYPT-LUKS2-11111111222233334444555555555555-data\n",
    "sys/class/net/wg0/uevent": "DEVTYPE=wireguard\nINTERFACE=wg0\n",
    "etc/wireguard/wg0.conf": f"[Interface]\nPrivateKey = {BASE64}\nPresharedKey = {BASE64}\n",
}

PROGRAMS = {
    "wg": (
        'case "$*" in\n"show all listen-port") printf "wg0\\t51820\\n";;\n'
        f'"show all peers") printf "wg0\\t%s\\n" "{BASE64}";;\n'
        f'*) echo "wg0 {BASE64} {BASE64} 51820 off";;\nesac'
    ),
    "dmsetup": (
        'case "$*" in *showkeys*) exit 9;; info*) exit 0;; esac\n'
        f'echo "data: 0 100 crypt aes-xts-plain64 {HEX} 0 8:1 4096"'
    ),
    "ip": (
        'case "$*" in "xfrm state")\n'
        'printf "src 1.1.1.1 dst 2.2.2.2\\n\\tproto esp spi 0x1\\n"\n'
        f'printf "\\taead rfc4106(gcm(aes)) 0x{HEX} 128\\n"\n'
        ";; esac"
    ),
    "setkey": f'printf "1.1.1.1 2.2.2.2\\n\\tE: aes-gcm-16  {HEX[:8]} {HEX[8:16]} {HEX}\\n"',
    "cryptsetup": (
        'case "$*" in\n*luksDump*) printf "Version: 2\\n\\tcipher: aes-xts-plain64\\n'
        f'\\tSalt:  {" ".join(["ab"] * 16)}\\n\\tMK digest: {HEX}\\n";; esac'
    ),
    "blkid": "echo '/dev/vdb: TYPE=\"crypto_LUKS\"'",
    "testparm": (
        f'printf "[global]\\n\\tldap passwd = {PASS}\\n\\tserver smb encrypt = required\\n"'
    ),
    "smbd": "echo Version 4.19.5",
    "swanctl": (
        f'case "$*" in *list-conns*) printf "site: IKEv2\\n  secret: {PSK}\\n";;\n'
        f'*stats*) echo "  loaded plugins: aes gcm";; *) echo "strongSwan swanctl 5.9.8";; esac'
    ),
    "dmesg": f"echo 'aesni: key {HEX}'; echo 'password {PASS}'",
    "openvpn": "echo 'OpenVPN 2.6.14 x86_64 [DCO]'",
    "restic": "echo 'restic 0.18.0 compiled with go1.24'",
}


def make(root: Path, programs: Path) -> None:
    """Write the files below `root` and the programs into `programs`."""
    for path, text in FILES.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    programs.mkdir(exist_ok=True)
    for name, body in PROGRAMS.items():
        target = programs / name
        target.unlink(missing_ok=True)
        target.write_text(f"#!/bin/sh\n{body}\n")
        target.chmod(0o755)


def spoil(root: Path) -> None:
    """Put pipes, devices and endless files where the probes look."""
    for path in ("proc/crypto", "etc/crypttab", "etc/os-release", "etc/ssh/sshd_config"):
        (root / path).unlink()
    os.mkfifo(root / "proc/crypto")
    os.mkfifo(root / "etc/crypttab")
    (root / "etc/os-release").symlink_to("/dev/zero")
    (root / "etc/ssh/sshd_config").mkdir()
    (root / "proc/cpuinfo").unlink()
    (root / "proc/cpuinfo").write_text("flags\t\t: " + "x" * 10_000_000 + "\n")
    (root / "proc/mounts").unlink()
    (root / "proc/mounts").symlink_to("/dev/zero")
    (root / "etc/nginx/nginx.conf").write_bytes(
        b"listen 443 ssl; \x1b]0;title\x07\xff\xfe\n" * 90_000
    )
