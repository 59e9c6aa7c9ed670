#!/bin/bash
# Sends and fetches counted bytes over TCP and compares counts and digests of both ends.
# usage: transfer.sh SERVER BYTES
tmp=${TMPDIR:-/run}
head -c "$2" /dev/urandom >$tmp/up.bin
exec 3<>"/dev/tcp/$1/40000"
echo "put $2" >&3
cat $tmp/up.bin >&3
read -r count digest <&3
exec 3>&-
echo "RESULT tcp-up sent=$2 received=$count same=$([ "$(sha256sum <$tmp/up.bin | cut -d' ' -f1)" = "$digest" ] && echo yes || echo no)"

exec 3<>"/dev/tcp/$1/40000"
echo "get $2" >&3
read -r digest <&3
cat <&3 >$tmp/down.bin
echo "RESULT tcp-down sent=$2 received=$(wc -c <$tmp/down.bin) same=$([ "$(sha256sum <$tmp/down.bin | cut -d' ' -f1)" = "$digest" ] && echo yes || echo no)"
