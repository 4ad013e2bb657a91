-- name: file-operations
-- title: File operations by process
-- question: What did processes do with files?
select process_name, pid, operation, count(*) as operations, cast(sum(bytes) as bigint) as bytes,
       round(quantile_cont(duration, 0.99) / 1e6, 3) as p99_ms
from io where layer = 'file'
group by process_name, pid, operation
order by operations desc, pid, operation
limit 50;
