-- name: events-by-type
-- title: Events by type
-- question: Which events are in the trace, and how many?
select provider, event, id, version, cast(sum(events) as bigint) as events
from event_types
group by provider, event, id, version
order by events desc, provider, event, id, version;
