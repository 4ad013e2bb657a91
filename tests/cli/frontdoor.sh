# SPDX-License-Identifier: MIT
# openetw.sh says what it does and what is wrong before it installs or builds anything, and has a Windows file to show.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$T" || exit 1
# Nothing below may get as far as a package manager or a build.
for tool in apt-get sudo meson ninja; do
	printf '#!/bin/sh\necho "%s was called" >&2\nexit 9\n' $tool >"$T/$tool"
	chmod +x "$T/$tool"
done
PATH="$T:$PATH"
for word in --help -h help; do
	run_status 0 "$root/openetw.sh" "$word"
	says 'openetw.sh run' out "$word"
done
run_status 2 "$root/openetw.sh"
run_status 2 "$root/openetw.sh" nonsense
says "no 'nonsense'" err "an unknown word"
run_status 2 "$root/openetw.sh" test everything
says "'everything'" err "an unknown kind of tests"
run_status 2 "$root/openetw.sh" run not-here.etl
says "not-here.etl" err "a file that is not there"

# The file that a lone clone decodes: real, small, with its licence beside it.
etl=$root/samples/windows/primitive-types.etl
run_status 0 openetw dump --json "$etl"
expect "events of the Windows file" "$(grep -c '"provider":"solar_system"' out)" 5
says '"string_type":"Mercury"' out "the first event"
[ -s "$root/samples/windows/LICENSE-perfview.txt" ] || fail "the licence of the Windows file is missing"
