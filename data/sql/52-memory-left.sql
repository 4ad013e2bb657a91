-- name: memory-left
-- title: Memory that was not given back
-- question: Which call stacks took memory within the trace that was not given back in it?
select process_name, pid, operation, count(*) as times, cast(sum(bytes) as bigint) as bytes,
       stack_text(stack) as call_stack
from memory where freed is null and operation in ('virtual alloc', 'heap alloc', 'heap realloc')
group by process_name, pid, operation, stack
order by bytes desc, pid, stack
limit 50;
