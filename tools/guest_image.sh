#!/bin/sh
# Build the Debian guest that the tests boot: a disk, its kernel, and a probe that prints
# /proc/cpuinfo a few seconds after power-on.
#
# Usage: guest_image.sh DIRECTORY OWNER      (as root; DIRECTORY exists and is empty)
#
# DIRECTORY then holds
#   root.ext4    the root file system, raw
#   vmlinuz      the guest's kernel
#   initrd.img   its initramfs, to boot root.ext4
#   probe.img    an initramfs with nothing but busybox and `init` below
#   id_ed25519   the key that lets root in over SSH
#   packages     what is installed, a package and a version a line
# and belongs to OWNER (a user id).
#
# The tests keep the result in a cache whose key is this file's content, so a change here is a new
# image and nothing else is.

set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
PATH=$PATH:/usr/sbin:/sbin
umask 022

suite=bookworm
mirror=${UNMASK_DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages=linux-image-cloud-amd64,initramfs-tools,busybox-static,systemd-sysv,udev,dbus
packages=$packages,iproute2,openssh-server,qemu-guest-agent,openssl,cryptsetup-bin,cryptsetup
packages=$packages,nginx-light,procps,kmod
size=1400M

out=$1
owner=$2
root=$out/root.tmp

trap 'rm -rf "$root" "$out/probe.tmp"' EXIT

debootstrap --variant=minbase --keyring="$keyring" --include="$packages" \
    "$suite" "$root" "$mirror"

ssh-keygen -q -t ed25519 -N '' -C unmask-test -f "$out/id_ed25519"
install -d -m 700 "$root/root/.ssh"
install -m 600 "$out/id_ed25519.pub" "$root/root/.ssh/authorized_keys"

echo unmask-guest >"$root/etc/hostname"
echo '127.0.0.1 localhost unmask-guest' >"$root/etc/hosts"
echo '/dev/vda / ext4 rw,discard,errors=remount-ro 0 1' >"$root/etc/fstab"
printf '[Match]\nName=en* eth*\n\n[Network]\nDHCP=yes\n' \
    >"$root/etc/systemd/network/80-dhcp.network"
chroot "$root" systemctl --quiet enable systemd-networkd ssh
# Nothing that only costs boot time under emulation.
chroot "$root" systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer \
    dpkg-db-backup.timer e2scrub_reap.service systemd-networkd-wait-online.service
chroot "$root" dpkg-query -W >"$out/packages"

mkdir -p "$root/probe/bin" "$root/probe/proc" "$root/probe/dev"
cp "$root/bin/busybox" "$root/probe/bin/busybox"
cat >"$root/probe/init" <<'INIT'
#!/bin/busybox sh
# ttyS0 is the console, where the kernel may write at any time; ttyS1 carries evidence only.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
{
    /bin/busybox cat /proc/cpuinfo
    echo 'END OF EVIDENCE'
} >/dev/ttyS1
case " $(/bin/busybox cat /proc/cmdline) " in
*' unmask.stay '*) while :; do /bin/busybox sleep 3600; done ;;
esac
/bin/busybox poweroff -f
INIT
chmod 755 "$root/probe/init"
chroot "$root" sh -c 'cd /probe && find . | cpio --quiet -o -H newc | gzip -9' >"$out/probe.img"

cp "$root"/boot/vmlinuz-* "$out/vmlinuz"
cp "$root"/boot/initrd.img-* "$out/initrd.img"
rm -rf "$root/probe" "$root/var/cache/apt/archives" "$root/var/lib/apt/lists" \
    "$root/usr/share/doc" "$root/usr/share/locale" "$root/usr/share/man"
mkdir -p "$root/var/cache/apt/archives/partial" "$root/var/lib/apt/lists/partial"

mkfs.ext4 -q -L unmask-guest -d "$root" "$out/root.ext4" "$size"
chown -R "$owner" "$out"
chmod 600 "$out/id_ed25519"
