/* SPDX-License-Identifier: MIT
 *
 * What the API functions need out of an EVENT_RECORD, and which schema it has. Inside this folder
 * only.
 */
#ifndef SCHEMA_SCHEMA_RECORD_H
#define SCHEMA_SCHEMA_RECORD_H

#include "evntcons.h"
#include "schema/schema.h"
#include "schema/schema_store.h"
#include "etw/values/guids.h"

struct schema_record {
	const uint8_t *tlg; /* TraceLogging metadata; NULL when there is none */
	size_t tlg_bytes;
	const uint8_t *traits;
	size_t traits_bytes;
	const uint8_t *control_guid; /* NULL when there is none */
	struct guid provider;
	const uint8_t *payload; /* never NULL */
	size_t payload_bytes;
	unsigned pointer_size; /* 0: the header does not say */
	uint32_t pid, tid;
	uint16_t flags;
	uint16_t id;
	uint8_t version, opcode;
	bool classic;
	bool metadata; /* an EventMetadata record: payload is for schema_store_learn() */
};
void schema_record_read(const EVENT_RECORD *r, struct schema_record *ret);

/* To ask for the schema among the manifests that EventSources sent. */
static inline struct schema_ask schema_record_ask(const struct schema_record *r)
{
	return (struct schema_ask){.guid = r->provider,
				   .pid = r->pid,
				   .id = r->id,
				   .version = r->version,
				   .payload = r->payload,
				   .payload_bytes = r->payload_bytes,
				   .pointer_size = r->pointer_size ? r->pointer_size : 8};
}

/* Programs that write kernel events of another machine leave their own width in the header: when the
 * payload does not fit with it and fits exactly with the other, the other is right. When both fit,
 * because the last field is a text, the one that makes it a path is. A payload with addresses that only
 * 64-bit systems have is wide, and one that is cut off when it does not fit. True when the pointer size
 * was changed. */
bool schema_record_settle(struct schema_payload *p);
/* Has pointers, and a text that takes in all that is left: any pointer size may seem to fit. */
bool schema_record_ends_with_text(const struct schema_event *e);

/* Is it part of a manifest that an EventSource sends in the stream? */
static inline bool schema_record_is_manifest_chunk(const struct schema_record *r)
{
	return r->id == 0xFFFE && !r->classic && r->opcode == 0xFE && r->payload_bytes >= 8 && r->payload[3] == 0x5B;
}

/* Quickly: neither EventMetadata nor a manifest chunk. */
static inline bool schema_record_may_teach(const EVENT_RECORD *r)
{
	return (r->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		       ? r->EventHeader.ProviderId.Data1 == GUID_FIRST(ETW_GUID_CLASS_EVENT_METADATA)
		       : r->EventHeader.EventDescriptor.Id == 0xFFFE;
}

#endif
