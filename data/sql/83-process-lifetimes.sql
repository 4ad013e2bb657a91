-- name: process-lifetimes
-- title: Processes that began or ended
-- question: Which processes began or ended, how long did they live, and with which code did they end?
select process_name, pid, parent_name, command_line, container, round(start / 1e6, 3) as start_ms,
       round(duration / 1e6, 3) as ms, exit_code
from lifetimes
order by lifetimes.start nulls first, pid
limit 200;
