# SPDX-License-Identifier: MIT
# Where a user's etwd is: XDG_RUNTIME_DIR where it is safe, and never where another user was first. All programs of
# the user find it, whatever is in their environment.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root can be several users"
command -v setpriv >/dev/null || skip "setpriv is not there"
unset OPENETW_RUNTIME_DIR XDG_RUNTIME_DIR
user=61237 squatter=61238
[ ! -e /run/user/$user ] || skip "the system has a place for user $user"
rm -rf /tmp/openetw-$user /tmp/openetw-$user-*
chmod 755 "$T"
mkdir "$T/files" "$T/xdg"
chown $user:$user "$T/files" "$T/xdg"
chmod 700 "$T/xdg"
as_user() { setpriv --reuid=$user --regid=$user --clear-groups "$@"; }
as_user test -x "$HELPERS/emit" || skip "other users cannot reach $HELPERS"
records() { # records NAME DIRECTORY COMMAND…: a session, and a provider that knows nothing but its user
	name=$1 place=$2
	shift 2
	as_user "$@" openetw start "$name" -p Test.Place -o "$T/files/$name.etl" >"$T/out" 2>"$T/err" ||
		fail "$name does not start: $(cat "$T/err")"
	[ -S "$place/control" ] || fail "$name: etwd is not in $place: $(as_user "$@" openetw list)"
	as_user "$@" openetw list | grep -q "^etwd: $place" || fail "list does not say where etwd is: $(as_user "$@" openetw list)"
	as_user env -i "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "$@" "$HELPERS/emit" Test.Place 1000 wait >/dev/null || fail "$name: emit"
	as_user "$@" openetw stop "$name" >/dev/null || fail "$name does not stop"
	verify_exactly 1000 "$T/files/$name.etl" Test.Place
	kill "$(cat "$place/pid")"
}
trap 'rm -rf /tmp/openetw-$user /tmp/openetw-$user-*; cleanup' EXIT

records plain /tmp/openetw-$user env
[ ! -s "$T/err" ] || fail "it has something to say of the usual place: $(cat "$T/err")"
records xdg "$T/xdg/openetw" env XDG_RUNTIME_DIR="$T/xdg"
chmod 777 "$T/xdg" # anybody could put something there
records unsafe /tmp/openetw-$user env XDG_RUNTIME_DIR="$T/xdg"
rm -rf /tmp/openetw-$user
mkdir -m 700 /tmp/openetw-$user
chown $squatter:$squatter /tmp/openetw-$user
records squatted /tmp/openetw-$user-1 env
grep -q "/tmp/openetw-$user belongs to another user (id $squatter), so etwd is in /tmp/openetw-$user-1" "$T/err" ||
	fail "nobody says why: $(cat "$T/err")"
[ -z "$(ls -A /tmp/openetw-$user)" ] || fail "something went into the squatter's directory"
# The squatter leaves: the user's programs stay together.
rmdir /tmp/openetw-$user
records left /tmp/openetw-$user-1 env HOME=/nonexistent
