#!/usr/bin/env bash
# Builds the Debian package from the binaries in a folder: build.sh BIN OUT [VERSION]. It needs dpkg-deb only, and no
# root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
bin=${1:?folder of binaries} out=${2:?folder of the package}
version=${3:-$(cat "$here/version")}
arch=$(dpkg --print-architecture)
root=$(mktemp -d)
chmod 0755 "$root"
trap 'rm -rf "$root"' EXIT

put() { install -D -m "$1" "$2" "$root$3"; }
put 0755 "$bin/vbngd" /usr/sbin/vbngd
put 0755 "$bin/vbng" /usr/bin/vbng
put 0755 "$bin/vbng-sim" /usr/bin/vbng-sim
put 0644 "$here/vbngd.service" /lib/systemd/system/vbngd.service
put 0644 "$here/vbng-forwarder.service" /lib/systemd/system/vbng-forwarder.service
put 0640 "$here/vbng.conf" /etc/vbng/vbng.conf
put 0644 "$tree/etc/vbng.conf" /usr/share/doc/vbng/examples/vbng.conf
put 0644 "$tree/README.md" /usr/share/doc/vbng/README.md
put 0644 "$tree/LICENSE" /usr/share/doc/vbng/copyright
for page in "$tree"/docs/*.md; do put 0644 "$page" "/usr/share/doc/vbng/$(basename "$page")"; done

mkdir -p "$root/DEBIAN"
sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" "$here/control.in" >"$root/DEBIAN/control"
echo "Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)" >>"$root/DEBIAN/control"
echo /etc/vbng/vbng.conf >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 0755 "$here/$script" "$root/DEBIAN/$script"; done
mkdir -p "$out"
dpkg-deb --root-owner-group -Zgzip --build "$root" "$out/vbng_${version}_${arch}.deb"
