#!/bin/sh
# Unpack Debian's QEMU of another release into ~/.cache/unmask/qemu/RELEASE, with all that it needs
# to run, for tests that move guests between versions. Nothing is installed.
set -eu

root="${HOME}/.cache/unmask/qemu"
mirror="${UNMASK_MIRROR:-http://deb.debian.org/debian}"
key=/usr/share/keyrings/debian-archive-keyring.gpg

unpack() {
    release="$1"
    [ -x "$root/$release/usr/bin/qemu-system-x86_64" ] && return
    state="$(mktemp -d)"
    trap 'rm -rf "$state"' EXIT
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$root"
    echo "deb [signed-by=$key] $mirror $release main" >"$state/sources.list"
    options="-o Dir::State=$state -o Dir::State::lists=$state/lists -o Dir::Cache=$state/cache
        -o Dir::Etc::sourcelist=$state/sources.list -o Dir::Etc::sourceparts=/dev/null
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::status=/dev/null
        -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086 # several options in one word
    apt-get -qq $options update
    # shellcheck disable=SC2086
    apt-get -qq $options -y --no-install-recommends --download-only install qemu-system-x86
    for package in "$state"/cache/archives/*.deb; do
        dpkg -x "$package" "$state/root"
    done
    mv "$state/root" "$root/$release"
    rm -rf "$state"
}

unpack trixie # 10.0
ls "$root"
