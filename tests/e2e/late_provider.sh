# SPDX-License-Identifier: MIT
# Providers that registered before etwd existed, and providers that come later, are both seen.
. "$(dirname "$0")/lib.sh"
"$HELPERS/emit" Test.Late 1000 wait ready="$T/ready" >"$T/early" &
wait_for 60 test -f "$T/ready" || fail "the early provider did not start"
openetw start s -o "$T/s.etl" -p Test.Late >/dev/null || fail "start"
wait_for 60 grep -q attempts "$T/early" || fail "the early provider was not enabled"
"$HELPERS/emit" Test.Late 1000 wait >/dev/null
openetw stop s >/dev/null || fail "stop"
v=$("$HELPERS/verify" "$T/s.etl") || fail "$v"
case $v in *events=2000*gaps=0*processes=2*) ;; *) fail "$v" ;; esac
