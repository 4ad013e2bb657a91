-- name: slowest-spans
-- title: Slowest start/stop pairs
-- question: Which operations that have a start and a stop took longest?
select time_text(start) as start, round(duration / 1e6, 3) as ms, provider, name, process_name, pid, tid
from spans where ended
order by duration desc, spans.start
limit 50;
