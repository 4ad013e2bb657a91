-- name: cpu-by-module
-- title: CPU by module
-- question: In which modules were the processors busy?
select process_name, pid, coalesce(module, '?') as module, count(*) as samples,
       round(100.0 * count(*) / sum(count(*)) over (), 1) as percent
from samples where not idle
group by process_name, pid, coalesce(module, '?')
order by samples desc, pid, module
limit 50;
