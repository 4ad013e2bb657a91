-- name: jit-by-process
-- title: Methods compiled while programs ran
-- question: How many methods of .NET were compiled while their programs ran, and how long did that take?
select process_name, pid, count(*) as methods, cast(sum(il_bytes) as bigint) as il_bytes,
       cast(sum(native_bytes) as bigint) as native_bytes, round(sum(duration) / 1e6, 3) as ms,
       round(max(duration) / 1e6, 3) as longest_ms
from jit
group by process_name, pid
order by ms desc, pid;
