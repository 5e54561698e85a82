#!/bin/sh
# Build the Debian guest that the tests boot: a disk, its kernel, and a probe that prints
# /proc/cpuinfo a few seconds after power-on. The guest serves TLS (nginx), OpenVPN and WireGuard,
# and opens the LUKS disk where it has one. All its keys are made here, and protect nothing.
#
# Usage: guest_image.sh DIRECTORY OWNER      (as root; DIRECTORY exists and is empty)
#
# DIRECTORY then holds
#   root.ext4    the root file system, raw
#   vmlinuz      the guest's kernel
#   initrd.img   its initramfs, to boot root.ext4
#   probe.img    an initramfs with nothing but busybox and `init` below
#   luks.raw     a LUKS2 volume, small, to be the guest's second disk: it opens it at boot
#   id_ed25519   the key that lets root and the user `auditor` in over SSH
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
packages=$packages,nginx-light,procps,kmod,openvpn,wireguard-tools
size=1400M
luks_uuid=6d3f7f0e-9a0c-4a53-8f0a-5b8a1c2e7d10

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

# --- Encrypted work -------------------------------------------------------------------------------

# Somebody who may log in and is not root.
chroot "$root" useradd --create-home --shell /bin/sh auditor
install -d -m 700 "$root/home/auditor/.ssh"
install -m 600 "$out/id_ed25519.pub" "$root/home/auditor/.ssh/authorized_keys"
chroot "$root" chown -R auditor: /home/auditor/.ssh

# A disk that crypttab opens where it is there, and that nothing waits for where it is not.
install -d -m 700 "$root/etc/keys"
head -c 64 /dev/urandom >"$root/etc/keys/secret.key"
chmod 400 "$root/etc/keys/secret.key"
truncate -s 32M "$root/luks.raw"
chroot "$root" cryptsetup luksFormat --batch-mode --type luks2 --uuid "$luks_uuid" \
    --cipher aes-xts-plain64 --key-size 512 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
    --luks2-metadata-size 16k --luks2-keyslots-size 1m /luks.raw /etc/keys/secret.key
mv "$root/luks.raw" "$out/luks.raw"
echo "secret UUID=$luks_uuid /etc/keys/secret.key luks,nofail" >"$root/etc/crypttab"

# One authority, which is also nginx's and OpenVPN's own certificate.
chroot "$root" openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -days 7300 -subj /CN=unmask-guest -keyout /etc/ssl/private/unmask.key \
    -out /etc/ssl/certs/unmask.pem
cat >"$root/etc/nginx/conf.d/tls.conf" <<'NGINX'
server {
    listen 443 ssl;
    server_name unmask-guest;
    ssl_certificate /etc/ssl/certs/unmask.pem;
    ssl_certificate_key /etc/ssl/private/unmask.key;
    return 204;
}
NGINX
cat >"$root/etc/openvpn/server/office.conf" <<'OPENVPN'
port 1194
proto udp
dev tun
server 10.98.0.0 255.255.255.0
ca /etc/ssl/certs/unmask.pem
cert /etc/ssl/certs/unmask.pem
key /etc/ssl/private/unmask.key
dh none
data-ciphers AES-256-GCM:CHACHA20-POLY1305
OPENVPN
chroot "$root" systemctl --quiet enable openvpn-server@office

( umask 077; chroot "$root" wg genkey >"$root/etc/wireguard/private" )
( umask 077; cat >"$root/etc/wireguard/wg0.setconf" <<WIREGUARD
[Interface]
PrivateKey = $(cat "$root/etc/wireguard/private")
ListenPort = 51820

[Peer]
PublicKey = $(chroot "$root" sh -c 'wg genkey | wg pubkey')
AllowedIPs = 10.99.0.2/32
WIREGUARD
)
rm "$root/etc/wireguard/private"
cat >"$root/etc/systemd/system/unmask-wireguard.service" <<'UNIT'
[Unit]
Description=The tunnel wg0

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=ip link add wg0 type wireguard
ExecStart=wg setconf wg0 /etc/wireguard/wg0.setconf
ExecStart=ip address add 10.99.0.1/24 dev wg0
ExecStart=ip link set wg0 up

[Install]
WantedBy=multi-user.target
UNIT
chroot "$root" systemctl --quiet enable unmask-wireguard

# --- The probe ------------------------------------------------------------------------------------

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
