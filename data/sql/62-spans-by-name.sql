-- name: spans-by-name
-- title: Start/stop pairs by name
-- question: How long do operations that have a start and a stop take?
select provider, name, count(*) as times, count(*) filter (not ended) as without_end,
       round(quantile_cont(duration, 0.5) / 1e6, 3) as p50_ms, round(quantile_cont(duration, 0.99) / 1e6, 3) as p99_ms,
       round(max(duration) / 1e6, 3) as longest_ms
from spans
group by provider, name
order by times desc, provider, name
limit 50;
