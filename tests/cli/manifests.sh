# SPDX-License-Identifier: MIT
# Several manifests of one EventSource in a recording: every process's events are read with its own.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
source="$OPENETW_BUILD/tests/cli/event_source"
for build in old new wide mute-wide old; do
	echo "'$source' $build"
done >all.sh
run_status 0 openetw run -p '{5f0a1c7e-3b52-4c1d-9a31-6e2b801147d2}' -o a.etl -- sh all.sh
# all five wrote three events of 9 and 7, in three layouts
run_status 0 openetw dump -q -e Sold a.etl
expect "events" "$(wc -l <out)" 15
expect "read rightly" "$(grep -c 'Price=9 Count=7\|Count=7 Price=9' out)" 15
run_status 0 openetw dump -q --json -e Sold a.etl
expect "read rightly in JSON" "$(grep -c '"Price":9,"Count":7\|"Count":7,"Price":9' out)" 15
sed 's/\(old\|new\|wide\)$/& first/; /mute/s/ first//' all.sh >first.sh
run_status 0 openetw run -p '{5f0a1c7e-3b52-4c1d-9a31-6e2b801147d2}' -o f.etl -- sh first.sh
run_status 0 openetw tracerpt f.etl -o f.xml -y
expect "and by TDH" "$(grep -c '<Data Name="Count">       7<' f.xml)" 15
# Nobody's manifest has that length: bytes and a reason, no wrong values.
cat >all.sh <<X
'$source' old
'$source' mute-wide
X
run_status 0 openetw run -p '{5f0a1c7e-3b52-4c1d-9a31-6e2b801147d2}' -o b.etl -- sh all.sh
run_status 0 openetw dump -q --json b.etl
expect "of the first" "$(grep -c '"Count":7,"Price":9' out)" 3
expect "of the second" "$(grep -c '"_raw":"090000000000000007000000","_reason":"[^"]*another length' out)" 3
# Two recordings read together: the processes have different manifests there too.
echo "'$source' new" >one.sh
run_status 0 openetw run -p '{5f0a1c7e-3b52-4c1d-9a31-6e2b801147d2}' -o c.etl -- sh one.sh
run_status 0 openetw dump -q -e Sold c.etl a.etl
expect "of both" "$(grep -c 'Price=9 Count=7\|Count=7 Price=9' out)" 18
exit 0
