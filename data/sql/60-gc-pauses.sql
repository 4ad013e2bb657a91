-- name: gc-pauses
-- title: Pauses of .NET
-- question: How long did garbage collections of .NET stop their programs?
with edges as (select time, process_name, pid, id, lead(time) over own as next_time, lead(id) over own as next_id
               from events
               where provider = 'Microsoft-Windows-DotNETRuntime' and id in (3, 9)
               window own as (partition by process order by time))
select process_name, pid, count(*) as pauses, round(sum(next_time - time) / 1e6, 3) as ms,
       round(quantile_cont(next_time - time, 0.99) / 1e6, 3) as p99_ms,
       round(max(next_time - time) / 1e6, 3) as longest_ms
from edges where id = 9 and next_id = 3
group by process_name, pid
order by ms desc, pid;
