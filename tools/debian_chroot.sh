#!/bin/sh
# Bare Debian systems, to find out what a newcomer's machine or a Proxmox VE node lacks.
#
# Usage: debian_chroot.sh base SUITE                prints the path of a tar of a bare Debian
#        debian_chroot.sh unpack SUITE DIRECTORY    makes the directory a bare Debian
#        debian_chroot.sh run DIRECTORY COMMAND...  runs a command as root in it
#
# All as root. A tar is made once and kept in ~/.cache/unmask, or $XDG_CACHE_HOME/unmask.
# A command has its own mounts and processes: when it ends, however it ends, all of them are gone.
# It gets this machine's way to the network (resolv.conf, and the authorities that PIP_CERT names)
# and keeps downloaded Debian packages in the cache.

set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
PATH=$PATH:/usr/sbin:/sbin
umask 022

self=$0
edition=1 # of what base() makes; another number makes it anew
mirror=${UNMASK_DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=${XDG_CACHE_HOME:-$HOME/.cache}/unmask
authorities=/etc/unmask-authorities.pem

usage() {
    sed -n 's/^# Usage: /usage: /p; s/^#        debian/       debian/p' "$self" >&2
    exit 2
}

base() { # a suite
    tar=$cache/debian-$1-$edition.tar
    mkdir -p "$cache"
    (
        flock 9
        if ! [ -e "$tar" ]; then
            partial=$(mktemp -d "$cache/debian-$1.XXXXXX")
            trap 'rm -rf "$partial"' EXIT
            debootstrap --variant=minbase --keyring="$keyring" \
                "$1" "$partial/root" "$mirror" >"$partial/log" 2>&1 || {
                tail -n 15 "$partial/log" >&2
                exit 1
            }
            rm -rf "$partial/root/var/cache/apt/archives"/*.deb "$partial/root/var/lib/apt/lists"/*
            tar -C "$partial/root" --numeric-owner -cf "$partial/tar" .
            mv "$partial/tar" "$tar"
        fi
    ) 9>"$cache/debian-$1.lock" >&2
    echo "$tar"
}

unpack() { # a suite and a directory
    tar=$(base "$1")
    mkdir -p "$2"
    tar -C "$2" --numeric-owner -xpf "$tar"
    cp /etc/resolv.conf "$2/etc/resolv.conf"
    if [ -n "${PIP_CERT:-}" ]; then
        cp "$PIP_CERT" "$2$authorities"
    fi
    # Triggers must not start services here, as there is nobody to end them.
    printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d"
    chmod 755 "$2/usr/sbin/policy-rc.d"
    cat >"$2/etc/apt/apt.conf.d/90unmask" <<'APT'
Binary::apt-get::APT::Keep-Downloaded-Packages "true";
APT::Sandbox::User "root"; // nobody else may write into the cache
APT
}

run() { # a directory and a command
    root=$1
    shift
    # shellcheck source=/dev/null
    suite=$(. "$root/etc/os-release" && echo "$VERSION_CODENAME")
    debs=$cache/debs-$suite
    mkdir -p "$debs/partial"
    certificate=
    if [ -e "$root$authorities" ]; then
        certificate=PIP_CERT=$authorities
    fi
    # The first shell has the namespaces; the mounts in it are nobody else's.
    # shellcheck disable=SC2016
    exec unshare --mount --pid --fork --kill-child --propagation private sh -euc '
        root=$1
        debs=$2
        shift 2
        mount --bind "$root" "$root" # tests in it make namespaces, which wants a mount as the root
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
        mount --bind "$root/dev/pts/ptmx" "$root/dev/ptmx"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        mount --bind "$debs" "$root/var/cache/apt/archives"
        exec chroot "$root" "$@"
    ' sh "$root" "$debs" env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive ${certificate:+"$certificate"} "$@"
}

case ${1:-}-$# in
base-2) base "$2" ;;
unpack-3) unpack "$2" "$3" ;;
run-1 | run-2) usage ;;
run-*)
    shift
    run "$@"
    ;;
*) usage ;;
esac
