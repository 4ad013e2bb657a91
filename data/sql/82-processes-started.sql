-- name: processes-started
-- title: Processes that started
-- question: Which processes started while it was recorded, and how long did they live?
select time_text(start) as start, process_name, pid, parent_pid, round((stop - start) / 1e6, 3) as ms, exit_code,
       command_line
from processes where start is not null
order by processes.start, pid;
