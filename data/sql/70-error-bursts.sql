-- name: error-bursts
-- title: Bursts of errors
-- question: In which seconds did many warnings and errors come, and from whom?
select time_text(time // 1000000000 * 1000000000) as second, provider, event, level, count(*) as events
from events where level between 1 and 3
group by time // 1000000000, provider, event, level
order by events desc, time // 1000000000, provider, event
limit 50;
