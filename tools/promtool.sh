#!/bin/sh
# Unpack Prometheus's promtool from Debian's package into ~/.cache/unmask/promtool, for tests of the
# metrics, the alerting rules and their queries. Nothing is installed, and no server is started.
set -eu

root="${HOME}/.cache/unmask/promtool"
mirror="${UNMASK_MIRROR:-http://deb.debian.org/debian}"
key=/usr/share/keyrings/debian-archive-keyring.gpg
release=bookworm # its C library is the oldest that unmask's tests run with

[ -x "$root/usr/bin/promtool" ] && exit
state="$(mktemp -d)"
trap 'rm -rf "$state"' EXIT
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs" "$state/root/usr/bin"
echo "deb [signed-by=$key] $mirror $release main" >"$state/sources.list"
options="-o Dir::State::lists=$state/lists -o Dir::Cache=$state/cache
    -o Dir::Etc::sourcelist=$state/sources.list -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::status=/dev/null -o APT::Sandbox::User=root"
# shellcheck disable=SC2086 # several options in one word
(cd "$state/debs" && apt-get -qq $options update && apt-get -qq $options download prometheus)
dpkg -x "$state"/debs/prometheus_*.deb "$state/unpacked"
mv "$state/unpacked/usr/bin/promtool" "$state/root/usr/bin/"
mkdir -p "$(dirname "$root")"
rm -rf "$root"
mv "$state/root" "$root"
"$root/usr/bin/promtool" --version
