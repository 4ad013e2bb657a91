-- name: disk-queues
-- title: Queues of disks
-- question: How many operations did each disk have at once?
select disk, count(*) as operations, max(queue) as longest_queue, quantile_disc(queue, 0.99) as p99_queue
from io where layer = 'disk'
group by disk
order by disk;
