#!/bin/sh
# Unpack Debian's openssl of other releases into ~/.cache/unmask/openssl/RELEASE, for tests that
# hold what unmask knows about OpenSSL against it. Nothing is installed.
set -eu

root="${HOME}/.cache/unmask/openssl"
mirror="${UNMASK_MIRROR:-http://deb.debian.org/debian}"
key=/usr/share/keyrings/debian-archive-keyring.gpg

unpack() {
    release="$1"
    shift
    [ -x "$root/$release/usr/bin/openssl" ] && return
    state="$(mktemp -d)"
    trap 'rm -rf "$state"' EXIT
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs" "$root"
    echo "deb [signed-by=$key] $mirror $release main" >"$state/sources.list"
    options="-o Dir::State::lists=$state/lists -o Dir::Cache=$state/cache
        -o Dir::Etc::sourcelist=$state/sources.list -o Dir::Etc::sourceparts=/dev/null
        -o Dir::State::status=/dev/null -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086 # several options in one word
    (cd "$state/debs" && apt-get -qq $options update && apt-get -qq $options download "$@")
    for package in "$state"/debs/*.deb; do
        dpkg -x "$package" "$state/root"
    done
    rm -rf "${root:?}/$release"
    mv "$state/root" "$root/$release"
    rm -rf "$state"
}

unpack bullseye openssl libssl1.1 # 1.1.1
unpack trixie openssl libssl3t64 libc6 zlib1g libzstd1 # 3.5: five vectors
ls "$root"
