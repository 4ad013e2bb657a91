-- name: cpu-by-thread
-- title: CPU by thread
-- question: Which threads used the processors?
select process_name, pid, tid, count(*) as samples,
       round(100.0 * count(*) / sum(count(*)) over (), 1) as percent
from samples where not idle
group by process_name, pid, tid
order by samples desc, pid, tid
limit 50;
