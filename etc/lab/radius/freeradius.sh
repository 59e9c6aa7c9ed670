#!/bin/sh
# Starts FreeRADIUS in the foreground for a lab:
#
#   freeradius.sh DIR PORT [legacy]
#
# DIR is made if absent and then holds the configuration, the accounting records (DIR/detail) and the
# log (DIR/log). PORT is the UDP port for authentication, PORT+1 that for accounting. With "legacy" the
# server behaves as Debian 12 packages it: it sends no Message-Authenticator in its answers.
#
# Environment: SECRET  shared secret (testing123)
#              USERS   users file (the one beside this script)
#              LISTEN  address to listen on (*)
set -eu

usage() { echo "usage: $0 DIR PORT [legacy]" >&2; exit 2; }
[ $# -ge 2 ] && [ $# -le 3 ] || usage
dir=$1 port=$2 mode=${3:-}
[ -z "$mode" ] || [ "$mode" = legacy ] || usage

here=$(cd "$(dirname "$0")" && pwd)
users=${USERS:-$here/users}
server=$(command -v freeradius || command -v radiusd || true)
[ -n "$server" ] || server=/usr/sbin/freeradius
[ -x "$server" ] || { echo "$0: freeradius is not installed" >&2; exit 1; }
[ -r "$users" ] || { echo "$0: cannot read $users" >&2; exit 1; }

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cp "$users" "$dir/users"

sign=''
[ "$mode" = legacy ] || sign='update reply { Message-Authenticator := 0x00 }'

for libdir in /usr/lib/freeradius /usr/lib64/freeradius /usr/local/lib; do
	[ -e "$libdir/rlm_files.so" ] && break
done

# The packaged dictionaries include everything that is standard.
for dictionary in /usr/share/freeradius/dictionary /usr/local/share/freeradius/dictionary; do
	[ -e "$dictionary" ] && break
done
echo "\$INCLUDE $dictionary" >"$dir/dictionary"

# A refusal says why, and nothing of what the user would have got.
printf 'DEFAULT\n\tReply-Message =* ANY\n' >"$dir/refusal"

cat >"$dir/radiusd.conf" <<CONF
prefix = /usr
name = lab
libdir = $libdir
logdir = $dir
run_dir = $dir
raddbdir = $dir
pidfile = $dir/pid
max_request_time = 30
cleanup_delay = 5
max_requests = 65536
hostname_lookups = no
log {
	destination = files
	file = $dir/log
	auth = no
}
security {
	reject_delay = 0
	status_server = yes
}
thread pool {
	start_servers = 4
	max_servers = 8
	min_spare_servers = 1
	max_spare_servers = 8
	max_requests_per_server = 0
	auto_limit_acct = no
}
client any {
	ipaddr = *
	secret = ${SECRET:-testing123}
	require_message_authenticator = yes
}
modules {
	files {
		usersfile = $dir/users
	}
	pap {
	}
	chap {
	}
	attr_filter refusal {
		key = "%{User-Name}"
		filename = $dir/refusal
	}
	detail {
		filename = $dir/detail
		permissions = 0644
		header = "%t"
	}
}
server lab {
	listen {
		type = auth
		ipaddr = ${LISTEN:-*}
		port = $port
	}
	listen {
		type = acct
		ipaddr = ${LISTEN:-*}
		port = $((port + 1))
	}
	authorize {
		chap
		files
		pap
	}
	authenticate {
		Auth-Type PAP {
			pap
		}
		Auth-Type CHAP {
			chap
		}
	}
	post-auth {
		$sign
		Post-Auth-Type REJECT {
			if (&control:Auth-Type != Reject) {
				update reply {
					Reply-Message := "Wrong password"
				}
			}
			refusal
			$sign
		}
	}
	accounting {
		detail
	}
}
CONF

exec "$server" -f -d "$dir" -n radiusd
