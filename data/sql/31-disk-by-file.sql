-- name: disk-by-file
-- title: Disk by file
-- question: Which files did the disks work for?
select coalesce(file, '?') as file, operation, count(*) as operations, cast(sum(bytes) as bigint) as bytes,
       round(sum(duration) / 1e6, 3) as ms, round(quantile_cont(duration, 0.99) / 1e6, 3) as p99_ms
from io where layer = 'disk' and operation <> 'flush'
group by coalesce(file, '?'), operation
order by sum(duration) desc, file, operation
limit 50;
