-- name: wakers
-- title: Waits by what ended them
-- question: Who ended the waits of which processes?
select process_name, pid, coalesce(woken_by, '(not told)') as woken_by, waker_process_name, waker_pid,
       count(*) as waits, round(sum(duration) / 1e6, 3) as ms
from waits where kind = 'wait' and pid <> 0
group by process_name, pid, coalesce(woken_by, '(not told)'), waker_process_name, waker_pid
order by ms desc, pid
limit 50;
