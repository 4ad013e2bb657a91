-- name: slowest-opens
-- title: Slowest opens
-- question: Which files took longest to open?
select time_text(start) as start, round(duration / 1e6, 3) as ms, process_name, pid, file, status
from io where layer = 'file' and operation = 'create' and duration is not null
order by duration desc, io.start
limit 50;
