#!/bin/sh
# First process of a user-mode-linux guest. The root file system is the host's, read-only, through
# hostfs; role=FILE and arg.NAME=VALUE on the kernel command line say what the guest is to do.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/pts && mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/log
mount -t tmpfs tmpfs /etc/ppp
export TMPDIR=/run
mkdir -p /run/ppp && touch /etc/ppp/options

# The guest's modules lie in the package's own tree, where modprobe does not look by itself; the
# kernel's own requests go the same way.
version=$(uname -r)
mkdir -p /run/mods/lib/modules
ln -s "/usr/lib/uml/modules/$version" "/run/mods/lib/modules/$version"
printf '#!/bin/sh\nexec /sbin/modprobe -d /run/mods "$@"\n' >/run/modprobe
chmod +x /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe
for m in ipv6 af_packet 8021q ppp_generic pppox pppoe; do /run/modprobe $m; done
ip link set lo up
ip link set eth0 up

for word in $(cat /proc/cmdline); do
	case $word in
	role=*) role=${word#role=} ;;
	arg.*) pair=${word#arg.}; eval "${pair%%=*}='${pair#*=}'" ;;
	esac
done
echo "GUEST-UP $version"
. "$role"
echo "GUEST-DONE"
halt -f -p
