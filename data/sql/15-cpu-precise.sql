-- name: cpu-precise
-- title: Running, ready and waiting by thread
-- question: How long did each thread run, how long did it wait for a processor, and how long for something else?
select process_name, pid, tid, count(*) as switches, round(sum(running) / 1e6, 3) as running_ms,
       round(sum(ready) / 1e6, 3) as ready_ms, round(max(ready) / 1e6, 3) as longest_ready_ms,
       round(sum(waiting) / 1e6, 3) as waiting_ms
from cpu where pid <> 0
group by process_name, pid, tid
order by sum(running) desc, pid, tid
limit 50;
