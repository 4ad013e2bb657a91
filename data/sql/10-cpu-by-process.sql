-- name: cpu-by-process
-- title: CPU by process
-- question: Which processes used the processors?
select process_name, pid, count(*) as samples,
       round(100.0 * count(*) / sum(count(*)) over (), 1) as percent
from samples where not idle
group by process_name, pid
order by samples desc, pid
limit 50;
