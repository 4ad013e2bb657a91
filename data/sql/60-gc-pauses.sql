-- name: gc-pauses
-- title: Pauses of .NET
-- question: How long did garbage collections of .NET stop their programs?
select process_name, pid, count(*) as collections, round(sum(pause) / 1e6, 3) as ms,
       round(quantile_cont(pause, 0.99) / 1e6, 3) as p99_ms, round(max(pause) / 1e6, 3) as longest_ms
from gc
group by process_name, pid
order by ms desc, pid;
