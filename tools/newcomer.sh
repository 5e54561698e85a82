#!/bin/sh
# Walk a newcomer's path on a bare Debian and time it: what the README asks for, clone, demo, tests.
#
# Usage: newcomer.sh [--full] [--suite SUITE] [--keep]
#
#   --full    run all tests: half an hour, on two cores; else a few of them, a libvirtd's and
#             QEMU's included, which show that what tests need was installed
#   --suite   bookworm (Debian 12), which is what it does else, or trixie (Debian 13)
#   --keep    leave the system behind, and say where
#
# It takes the last commit, not what is uncommitted. As root: the Debian is a chroot, with mounts and
# processes of its own that end with it (tools/debian_chroot.sh). What a step prints is in a log;
# where one fails, its last lines are shown and the table ends there.

set -eu
tools=$(cd "$(dirname "$0")" && pwd)
suite=bookworm
tests="make test PYTEST_ARGS='tests/cpu tests/peers/test_cpu_compare.py'"
keep=
while [ $# -gt 0 ]; do
    case $1 in
    --full) tests='make test' ;;
    --suite) suite=${2:?newcomer: --suite needs a name} && shift ;;
    --keep) keep=yes ;;
    *)
        sed -n '4p' "$0" | cut -c 3- >&2
        exit 2
        ;;
    esac
    shift
done
if [ "$(id -u)" -ne 0 ]; then
    echo 'newcomer: only root can make a chroot; run it as root' >&2
    exit 1
fi

place=$(mktemp -d "${TMPDIR:-/tmp}/unmask-newcomer.XXXXXX")
root=$place/root
end() {
    if [ -n "$keep" ]; then
        echo "newcomer: the system is in $root; enter it: tools/debian_chroot.sh run $root bash" >&2
    else
        rm -rf --one-file-system "$place"
    fi
}
trap end EXIT
trap 'exit 130' INT TERM

row() {
    printf '%-64s  %s\n' "$1" "$2"
}

# A step is a command line that a newcomer types.
step() {
    began=$(date +%s.%N)
    if ! "$tools/debian_chroot.sh" run "$root" bash -c "cd && $1" >"$place/log" 2>&1 </dev/null; then
        row "$2" failed
        tail -n 40 "$place/log" >&2
        exit 1
    fi
    row "$2" "$(date +%s.%N | awk -v began="$began" '{ printf "%.0f s", $1 - began }')"
}

"$tools/debian_chroot.sh" unpack "$suite" "$root"
git -C "$tools" bundle create --quiet "$root/root/unmask.bundle" HEAD

echo "A bare Debian ($suite), $(nproc) cores, commit $(git -C "$tools" rev-parse --short HEAD)"
row STEP TIME
step 'apt-get update && apt-get install --yes --no-install-recommends git make python3' \
    'apt install git make python3'
step 'git clone unmask.bundle unmask' 'git clone'
step 'cd unmask && make demo' 'make demo'
step 'cd unmask && make demo' 'make demo, once more'
step "cd unmask && $tests" "$tests"
# What pytest says last, and what it left out: on a system that was set up well that is little.
grep -E '^SKIPPED|^=+ .* in .* =+$' "$place/log" || true
