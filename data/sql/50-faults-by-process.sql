-- name: faults-by-process
-- title: Page faults by process
-- question: Which processes had page faults, and how many of them read from a disk?
select process_name, pid, count(*) as faults, count(*) filter (kind = 'hard') as hard,
       cast(coalesce(sum(bytes) filter (kind = 'hard'), 0) as bigint) as bytes_read
from faults
group by process_name, pid
order by faults desc, pid
limit 50;
