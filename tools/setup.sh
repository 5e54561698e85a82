#!/bin/sh
# Make this checkout ready to run: system packages, then a virtual environment in .venv.
#
# Usage: setup.sh demo|package|test
#
# `demo` and `package` need Python and nothing else; `test` adds what the tests and linters need: the
# libvirt bindings (compiled here), QEMU, libvirtd, debootstrap, an SSH server, Chromium. A missing
# system package is installed if this user is root or may use sudo, and named with the command to run
# otherwise. A second run only looks whether everything is still there.

set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
export PATH

purpose=${1:-}
case $purpose in
demo | package | test) ;;
*)
    echo "usage: tools/setup.sh demo|package|test" >&2
    exit 2
    ;;
esac

say() {
    printf '%s\n' "setup: $*" >&2
}

fail() {
    say "$*"
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# --- Python -------------------------------------------------------------------------------------

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

python=
for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if new_enough "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    found=$(python3 --version 2>/dev/null || echo 'no python3')
    fail "unmask needs Python 3.11 or newer and this machine has $found;" \
        "install a newer one and run make again with PYTHON=/path/to/python3.11"
fi

# Debian names packages of a Python other than its python3 by version (python3.12-venv).
system_python=python3
case ${python##*/} in
python3.*) system_python=${python##*/} ;;
esac

# --- System packages ----------------------------------------------------------------------------

missing=
need() { # package, then the command that succeeds where it is installed
    package=$1
    shift
    if ! "$@" >/dev/null 2>&1; then
        missing="$missing $package"
    fi
}

python_header() {
    "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'
}

# Ubuntu's chromium-browser is a stub that asks for a snap: one that does not run is none.
browser() {
    for program in chromium google-chrome chromium-browser; do
        if "$program" --version >/dev/null 2>&1; then
            return 0
        fi
    done
    return 1
}

# What is looked for is the thing itself, so that a Python or QEMU built by hand counts too.
find_missing() {
    missing=
    need "$system_python-venv" "$python" -c 'import ensurepip, venv'
    if [ "$purpose" != test ]; then
        return
    fi
    need "$system_python-dev" python_header
    need gcc has gcc
    need pkg-config has pkg-config
    need libvirt-dev pkg-config --exists libvirt
    need qemu-system-x86 has qemu-system-x86_64
    need qemu-utils has qemu-img
    need libvirt-daemon-system has libvirtd
    need libvirt-clients has virsh
    need debootstrap has debootstrap
    need debian-archive-keyring test -e /usr/share/keyrings/debian-archive-keyring.gpg
    need e2fsprogs has mkfs.ext4
    need cryptsetup-bin has cryptsetup
    need fdisk has sfdisk
    need gpgv has gpgv
    need openssh-client has ssh-keygen
    need openssh-server has sshd
    need openssl has openssl
    need busybox has busybox
    need systemd has systemd-analyze
    need fish has fish
    need mandoc has mandoc
    need zsh has zsh
    need jq has jq
    need iproute2 has ss
    need procps has pgrep
    need dpkg has dpkg-deb
    need lintian has lintian
    need buildah has buildah
    if ! browser && grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null; then
        say "Ubuntu has Chromium as a snap only; without google-chrome, tests in a browser are skipped"
    else
        need chromium browser
    fi
}

install_missing() {
    command="apt-get install --yes --no-install-recommends$missing"
    if ! has apt-get; then
        fail "these packages are missing (Debian's names):$missing; install them and run make again"
    fi
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        if ! has sudo || { ! sudo -n true 2>/dev/null && ! [ -t 0 ]; }; then
            fail "packages are missing; run this as root, then make again:" \
                "apt-get update && $command"
        fi
    fi
    say "installing missing system packages:$missing"
    say "running: ${as_root:+$as_root }apt-get update, ${as_root:+$as_root }$command"
    # Lists that are missing or old name versions that the mirror no longer has.
    $as_root apt-get update -q >&2 || say "apt-get update failed; trying with the lists as they are"
    $as_root env DEBIAN_FRONTEND=noninteractive $command >&2 ||
        fail "could not install$missing; install them and run make again"
    find_missing
    if [ -n "$missing" ]; then
        fail "still missing after the installation:$missing"
    fi
}

find_missing
if [ -n "$missing" ]; then
    install_missing
fi

# --- Other releases -----------------------------------------------------------------------------

# Tests hold unmask to other versions of OpenSSL and QEMU than this system's, and what it writes for
# Prometheus to promtool. They are unpacked beside the guest image and not installed; where that
# fails, those tests are skipped and say so.
if [ "$purpose" = test ] && has apt-get; then
    for others in tools/openssl_versions.sh tools/qemu_versions.sh tools/promtool.sh; do
        "$others" >/dev/null 2>&1 || say "$others failed; the tests that need it are skipped"
    done
fi

# --- Virtual environment ------------------------------------------------------------------------

venv=.venv
stamp=$venv/.ready-for-$purpose
key=$("$python" - pyproject.toml tools/setup.sh <<'PYTHON'
import hashlib, os, sys

digest = hashlib.sha256(f"{sys.version} {os.getcwd()}".encode())
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        digest.update(file.read())
print(digest.hexdigest())
PYTHON
)

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ] && "$venv/bin/python" -c '' 2>/dev/null; then
    exit 0
fi

# The programs in a virtual environment hold its path: one that was moved is made anew.
usable() {
    case $(head -n 1 "$venv/bin/pip" 2>/dev/null) in
    "#!$PWD/$venv/bin/python"*) ;;
    *) return 1 ;;
    esac
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 && new_enough "$venv/bin/python"
}

if ! usable; then
    say "making a virtual environment in $venv"
    "$python" -m venv --clear "$venv"
fi
say "installing unmask for $purpose into $venv"
rm -f "$venv"/.ready-for-*
pip="$venv/bin/python -m pip --disable-pip-version-check --quiet"
# Dependency groups came with pip 25.1; Debian 12 has 23.0.
$pip install --upgrade 'pip>=25.1'
case $purpose in
demo) $pip install --editable '.[lab]' ;;
package) $pip install --editable '.[lab]' --group package ;;
test) $pip install --editable '.[keyring,lab,libvirt]' --group dev ;;
esac
# What is enough for the tests is enough for all, and nothing needs less than the demo.
echo "$key" >"$venv/.ready-for-demo"
if [ "$purpose" = test ]; then
    echo "$key" >"$venv/.ready-for-package"
fi
echo "$key" >"$stamp"
