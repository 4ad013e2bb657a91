# SPDX-License-Identifier: MIT
# A user asks processes to write a file. A process that has a group which the user has not does not lend it.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root can be several users"
command -v setpriv >/dev/null || skip "setpriv is not there"
user=61234
chmod 755 "$T"
mkdir -m 700 "$OPENETW_RUNTIME_DIR"
chown $user:$user "$OPENETW_RUNTIME_DIR"
mkdir "$T/files"
chown $user:$user "$T/files"
as_user() { setpriv --reuid=$user --regid=$user --clear-groups "$@"; }
as_user test -x "$HELPERS/emit" || skip "other users cannot reach $HELPERS"
as_user openetw start other -o "$T/files/other.etl" >/dev/null || fail "the user's etwd does not start"
provider() { # provider NUMBER SETPRIV-OPTIONS…: an endless one
	k=$1
	shift
	setpriv --reuid=$user "$@" "$HELPERS/emit" Test.Rights 0 pace=1000 ready="$T/files/ready$k" >/dev/null &
	eval "p$k=\$!"
	wait_for 60 test -f "$T/files/ready$k" || fail "provider $k did not start"
}
hosts() { cat "/proc/$1/task"/*/comm | grep -q '^etw-private$'; }
provider 1 --regid=$user --clear-groups
as_user openetw tracelog -start Mine -um -guid '*Test.Rights' -level 5 -f "$T/files/um.etl" >"$T/start" ||
	fail "a private session in a process of the user: $(cat "$T/start")"
wait_for 10 hosts "$p1" || fail "the user's process does not host it" # the thread names itself
as_user openetw tracelog -stop Mine >/dev/null || fail "stop"
"$HELPERS/verify" "$T/files/um.etl" >/dev/null || fail "the file of the user's process"
kill "$p1"
wait "$p1"
rm "$T/files/um.etl"
# Each of these processes could write what the user cannot.
refused() { # refused NUMBER
	as_user openetw tracelog -start Mine -um -guid '*Test.Rights' -level 5 -f "$T/files/um.etl" >"$T/start" 2>&1 &&
		fail "process $1 lends its rights: $(cat "$T/start")"
	grep -q 'group that its user does not have' "$T/start" || fail "no reason: $(cat "$T/start")"
	eval "hosts \$p$1" && fail "process $1 hosts it"
	[ ! -e "$T/files/um.etl" ] || fail "process $1 wrote the file"
	eval "kill \$p$1; wait \$p$1"
}
provider 2 --regid=$user --groups=$user,61235
refused 2
provider 3 --regid=61235 --clear-groups
refused 3
as_user openetw stop other >/dev/null || fail "stop other"
