# SPDX-License-Identifier: MIT
# Hostile clients on both sockets: etwd lives on, keeps no descriptor or memory of theirs, and an honest
# session beside them loses nothing.
. "$(dirname "$0")/lib.sh"
openetw start honest -r -o "$T/h.etl" -p Test.Honest --buffers 64:512 >/dev/null || fail "start"
p=$(etwd_pid)
descriptors() { ls "/proc/$p/fd" | wc -l; }
before=$(descriptors)
"$HELPERS/emit" Test.Honest 20000 wait threads=2 pace=100 >"$T/honest" &
honest=$!
for i in 1 2; do
	"$HELPERS/socket_noise" "$OPENETW_RUNTIME_DIR" 4 "${SEED:-}" >"$T/noise$i" 2>&1 &
	noises="${noises-} $!"
	sleep 0.1
done
for n in $noises; do wait "$n" || fail "etwd takes no connections any more: $(cat "$T"/noise*)"; done
wait "$honest" || fail "the honest program failed"
honest_lines "$T/honest" 20000
expect "etwd's pid" "$(etwd_pid)" "$p"
kill -0 "$p" || fail "etwd is gone: $(cat "$T"/noise*)"
timeout 20 openetw stop honest >"$T/stop" || fail "stop: $(cat "$T"/noise*)"
openetw list | awk '/hostile/ {print $1}' | while read -r s; do openetw stop "$s" >/dev/null; done
verify_exactly 20000 "$T/h.etl" Test.Honest
fewer() { [ "$(descriptors)" -le $((before + 4)) ]; }
wait_for 60 fewer || fail "etwd had $before descriptors, now $(descriptors): $(cat "$T"/noise*; ls -l /proc/$p/fd)"
