-- name: losses
-- title: Losses
-- question: What was lost when it was recorded, and when?
select file, kind, time_text(start) as start, time_text(stop) as stop, cpu, count
from lost
order by file, lost.start, kind;
