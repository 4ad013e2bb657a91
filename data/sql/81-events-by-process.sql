-- name: events-by-process
-- title: Events by process
-- question: Who wrote the events?
select process_name, pid, count(*) as events, time_text(min(time)) as first, time_text(max(time)) as last
from events
group by process, process_name, pid
order by events desc, pid;
