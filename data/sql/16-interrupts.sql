-- name: interrupts
-- title: Interrupts and deferred calls
-- question: Which interrupts and deferred calls took the processors, and for how long at most?
select kind, module, function, count(*) as times, round(sum(duration) / 1e6, 3) as ms,
       round(quantile_cont(duration, 0.99) / 1e6, 3) as p99_ms, round(max(duration) / 1e6, 3) as longest_ms
from dpc_isr
group by kind, module, function
order by sum(duration) desc, kind, function
limit 50;
