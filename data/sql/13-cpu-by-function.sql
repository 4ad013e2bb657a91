-- name: cpu-by-function
-- title: CPU by function
-- question: In which functions were the processors busy, themselves and with what they called?
with busy as (select stack, function from samples where not idle),
     self as (select function, count(*) as self from busy group by function),
     weights as (select stack, count(*) as n from busy where stack is not null group by stack),
     total as (select function, sum(n) as total
               from weights join (select distinct stack, function from frames) using (stack)
               group by function)
select function, coalesce(self, 0) as self, cast(greatest(coalesce(total, 0), coalesce(self, 0)) as bigint) as total
from self full join total using (function)
order by self desc, total desc, function
limit 50;
