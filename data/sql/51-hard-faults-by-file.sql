-- name: hard-faults-by-file
-- title: Hard faults by file
-- question: Of which files were pages read again?
select coalesce(file, '?') as file, count(*) as faults, cast(sum(bytes) as bigint) as bytes
from faults where kind = 'hard'
group by coalesce(file, '?')
order by faults desc, file
limit 50;
