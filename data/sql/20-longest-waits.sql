-- name: longest-waits
-- title: Longest waits
-- question: Which waits of threads were the longest, and who ended them?
select time_text(start) as start, round(duration / 1e6, 3) as ms, process_name, pid, tid, reason, woken_by,
       waker_process_name, waker_pid, waker_tid
from waits where kind = 'wait' and pid <> 0
order by duration desc, waits.start
limit 50;
