-- name: disk-by-process
-- title: Disk by process
-- question: Which processes kept the disks busy, and how long did they wait?
select process_name, pid, operation, count(*) as operations, cast(sum(bytes) as bigint) as bytes,
       round(sum(duration) / 1e6, 3) as ms, round(quantile_cont(duration, 0.5) / 1e6, 3) as p50_ms,
       round(quantile_cont(duration, 0.99) / 1e6, 3) as p99_ms, round(max(duration) / 1e6, 3) as longest_ms
from io where layer = 'disk'
group by process_name, pid, operation
order by sum(duration) desc, pid, operation
limit 50;
