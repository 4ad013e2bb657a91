-- name: net-by-endpoint
-- title: Network by endpoint
-- question: Who talked to whom, and how much?
select process_name, pid, protocol, remote,
       cast(coalesce(sum(bytes) filter (operation = 'send'), 0) as bigint) as sent,
       cast(coalesce(sum(bytes) filter (operation = 'receive'), 0) as bigint) as received,
       count(*) filter (operation = 'send') as sends, count(*) filter (operation = 'receive') as receives,
       count(*) filter (operation = 'retransmit') as retransmits, count(*) filter (operation = 'fail') as failed
from net
group by process_name, pid, protocol, remote
order by sent + received desc, pid, remote
limit 50;
