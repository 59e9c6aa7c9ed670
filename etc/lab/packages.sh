#!/usr/bin/env bash
# Installs the Debian packages that the labs use, and those named as arguments; does nothing when all are
# there.
set -euo pipefail
packages=(iproute2 iputils-ping ethtool kmod procps user-mode-linux ppp freeradius freeradius-utils
	isc-dhcp-client udhcpc dhcpcd-base wide-dhcpv6-client kea-dhcp4-server tshark python3-scapy traceroute
	iputils-tracepath tmux frr debootstrap systemd-container "$@")
missing=()
for p in "${packages[@]}"; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0
[ "$(id -u)" = 0 ] || { echo "missing packages: ${missing[*]} (install them as root: make packages)" >&2; exit 1; }
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# The FreeRADIUS package would start a server of its own; the labs start theirs in namespaces.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy
	trap 'rm -f $policy' EXIT
fi
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
