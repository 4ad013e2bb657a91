-- name: power-speed
-- title: Speed of processors
-- question: At what speed did each processor run, and how long? In MHz where Linux recorded it. (openetw record --power, or the flag POWER of Windows, records changes.)
select cpu, state, times, ms, percent, note from (
  select cpu, state, count(*) as times, round(sum(duration) / 1e6, 3) as ms,
         round(100.0 * sum(duration) / (select max(last) - min(first) from trace), 1) as percent, null as note
  from power where kind = 'speed'
  group by cpu, state
  union all
  select null, null, null, null, null,
         'no change of speed is recorded: openetw record --power does it where the machine tells of them, on Windows the flag POWER'
  where not exists (from power where kind = 'speed'))
order by cpu, ms desc, state
limit 1000;
