-- name: power-idle
-- title: Idle states of processors
-- question: How long was each processor in which idle state, and how often? (openetw record --power, or the flag IDLE_STATES of Windows, records it.)
select cpu, state, times, ms, percent, longest_ms, note from (
  select cpu, state, count(*) as times, round(sum(duration) / 1e6, 3) as ms,
         round(100.0 * sum(duration) / (select max(last) - min(first) from trace), 1) as percent,
         round(max(duration) / 1e6, 3) as longest_ms, null as note
  from power where kind = 'idle'
  group by cpu, state
  union all
  select null, null, null, null, null, null,
         'nothing is recorded: openetw record --power does it, on Windows the flag IDLE_STATES (xperf -on POWER)'
  where not exists (from power where kind = 'idle'))
order by cpu, state
limit 1000;
