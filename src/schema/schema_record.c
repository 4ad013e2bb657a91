/* SPDX-License-Identifier: MIT */
#include "schema/schema_record.h"

static const struct guid metadata_guid = GUID_INIT(ETW_GUID_CLASS_EVENT_METADATA);

void schema_record_read(const EVENT_RECORD *r, struct schema_record *ret)
{
	const EVENT_HEADER *h = &r->EventHeader;
	struct schema_record *s = ret; /* once for each event and function: filled in place */
	s->tlg = s->traits = s->control_guid = NULL;
	s->tlg_bytes = s->traits_bytes = 0;
	s->payload = r->UserData ? r->UserData : (const uint8_t *)"";
	s->payload_bytes = r->UserData ? r->UserDataLength : 0;
	s->pid = h->ProcessId;
	s->tid = h->ThreadId;
	s->flags = h->Flags;
	s->id = h->EventDescriptor.Id;
	s->version = h->EventDescriptor.Version;
	s->opcode = h->EventDescriptor.Opcode;
	s->classic = (h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
	s->pointer_size = h->Flags & EVENT_HEADER_FLAG_32_BIT_HEADER   ? 4
			  : h->Flags & EVENT_HEADER_FLAG_64_BIT_HEADER ? 8
								       : 0;
	memcpy(s->provider.b, &h->ProviderId, 16);
	for (unsigned i = 0; r->ExtendedData && i < r->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &r->ExtendedData[i];
		const uint8_t *data = (const uint8_t *)(uintptr_t)item->DataPtr;
		if (!data) {
			continue;
		}
		switch (item->ExtType) {
		case EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL:
			s->tlg = data;
			s->tlg_bytes = item->DataSize;
			break;
		case EVENT_HEADER_EXT_TYPE_PROV_TRAITS:
			s->traits = data;
			s->traits_bytes = item->DataSize;
			break;
		case EVENT_HEADER_EXT_TYPE_CONTROL_GUID: s->control_guid = item->DataSize >= 16 ? data : NULL; break;
		default: break;
		}
	}
	s->metadata = s->classic && guid_equal(&s->provider, &metadata_guid);
}

static bool fits(const struct schema_payload *p)
{
	uint32_t bytes;
	return schema_walk_measure(p, &bytes) == 0 && bytes == p->bytes;
}

bool schema_record_ends_with_text(const struct schema_event *e)
{
	const struct schema_field *last = e->top_count > 1 ? &e->fields[e->top_count - 1] : NULL;
	return e->has_pointers && last && last->in_type == TDH_INTYPE_UNICODESTRING && last->length == 0 &&
	       !schema_field_is_array(last) && !(last->flags & (PropertyParamLength | PropertyParamFixedLength));
}

/* How surely the text at the end is the path of a file: 2 with a drive, 1 from a root, 0 not. */
static int path_at_end(const struct schema_payload *p)
{
	uint32_t at;
	if (schema_walk_last(p, &at) < 0 || p->bytes - at < 6) {
		return 0;
	}
	uint16_t first = le16_get(p->data + at), letter = first | 0x20;
	if (letter >= 'a' && letter <= 'z' && le16_get(p->data + at + 2) == ':' && le16_get(p->data + at + 4) == '\\') {
		return 2;
	}
	return first == '\\';
}

/* Is there, where pointers of 8 bytes would stand, an address that only a 64-bit system has: of its kernel, or of
 * where it puts libraries and stacks? Pointers behind a field without a fixed size are not looked at. */
static bool has_wide_address(const struct schema_payload *p)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < p->event->top_count; i++) {
		const struct schema_field *f = &p->event->fields[i];
		uint32_t bytes = schema_value_fixed(f->in_type, 8); /* 0: not of all fields of this type */
		if (bytes == 0 || schema_field_is_array(f) || f->optional ||
		    (f->flags & (PropertyStruct | PropertyParamLength)) || at + bytes > p->bytes) {
			return false;
		}
		if (f->in_type == TDH_INTYPE_POINTER) {
			uint32_t high = le32_get(p->data + at + 4);
			if ((high >= 0xFFFF8000 && high != UINT32_MAX) || (high >= 0x7F00 && high <= 0x7FFF)) {
				return true;
			}
		}
		at += bytes;
	}
	return false;
}

bool schema_record_settle(struct schema_payload *p)
{
	if (!p->event->has_pointers) {
		return false;
	}
	bool fit = fits(p);
	if (fit && !schema_record_ends_with_text(p->event)) {
		return false;
	}
	struct schema_payload other = *p;
	other.pointer_size = 12 - p->pointer_size;
	if (!fits(&other)) {
		return false;
	}
	/* With narrow pointers also a wide payload fits that is cut off by as much. */
	if (!fit && p->pointer_size == 8 && has_wide_address(p)) {
		return false;
	}
	/* A text takes in what a pointer leaves, so both may fit. */
	if (fit && path_at_end(&other) <= path_at_end(p)) {
		return false;
	}
	p->pointer_size = other.pointer_size;
	return true;
}
