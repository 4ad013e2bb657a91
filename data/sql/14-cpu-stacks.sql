-- name: cpu-stacks
-- title: CPU by call stack
-- question: Which call stacks were sampled most often?
select process_name, pid, count(*) as samples, stack_text(stack) as stack
from samples where not idle and stack is not null
group by process_name, pid, samples.stack
order by samples desc, pid, stack
limit 20;
