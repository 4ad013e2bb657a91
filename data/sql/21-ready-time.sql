-- name: ready-time
-- title: Ready time by thread
-- question: Which threads could run and got no processor?
select process_name, pid, tid, count(*) as times, round(sum(late) / 1e6, 3) as ms, round(max(late) / 1e6, 3) as longest_ms
from (select process_name, pid, tid, case when kind = 'wait' then ready else duration end as late from waits where pid <> 0)
where late is not null
group by process_name, pid, tid
order by ms desc, pid, tid
limit 50;
