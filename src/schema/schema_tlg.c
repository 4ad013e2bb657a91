/* SPDX-License-Identifier: MIT
 *
 * TraceLogging event metadata -> model.
 *
 *   u16 size | tags | name NUL | field*
 *   field := name NUL | in | [out if in & 0x80] | [tags if out & 0x80]
 *            | [u16 count if (in & 0x60) = 0x20] | [u16 n, n bytes if (in & 0x60) = 0x60]
 *
 * Fields stand in depth-first order, the model wants each level together. So they are read into
 * nodes with first-child and next-sibling links by a loop with a small stack of open structs, then
 * laid out breadth first. No recursion: the depth of the input costs nothing but a check.
 */
#include "schema/schema_build.h"

#include <stdlib.h>

#define NO_NODE UINT16_MAX

enum tlg_in {
	TLG_TYPE = 0x1F,
	TLG_COUNT = 0x60,
	TLG_COUNT_FIXED = 0x20,
	TLG_COUNT_VARIABLE = 0x40,
	TLG_CUSTOM = 0x60,
	TLG_CHAIN = 0x80,
};

struct node {
	const char *name;
	uint32_t name_bytes;
	uint32_t tags;
	uint16_t count;
	uint16_t custom_bytes;
	const uint8_t *custom;
	uint16_t first_child, next;
	uint8_t in, out;
	bool has_tags;
};

struct reader {
	struct bytes in;
	const uint8_t *start;
	struct node *nodes;
	uint32_t node_count;
	struct diag *diag;
};

static uint64_t reader_offset(const struct reader *r)
{
	return (uint64_t)(r->in.p - r->start);
}

/* 7 bits a byte, most significant first, bit 7: more follow. At most 28 bits. */
static uint32_t read_tags(struct bytes *in)
{
	uint32_t tags = 0;
	for (int i = 0; i < 4; i++) {
		uint8_t c = bytes_u8(in);
		tags = tags << 7 | (c & 0x7F);
		if (!(c & 0x80)) {
			return tags;
		}
	}
	in->bad = true;
	return 0;
}

static int read_node(struct reader *r, struct node *n)
{
	size_t name_bytes = 0;
	*n = (struct node){.count = 1, .first_child = NO_NODE, .next = NO_NODE};
	n->name = bytes_asz(&r->in, &name_bytes);
	n->name_bytes = (uint32_t)name_bytes;
	n->in = bytes_u8(&r->in);
	if (n->in & TLG_CHAIN) {
		n->out = bytes_u8(&r->in);
		if (n->out & 0x80) {
			n->out &= 0x7F;
			n->tags = read_tags(&r->in);
			n->has_tags = true;
		}
	}
	uint8_t how = n->in & TLG_COUNT;
	if (how == TLG_COUNT_FIXED) {
		n->count = bytes_u16(&r->in);
	} else if (how == TLG_CUSTOM) {
		n->custom_bytes = bytes_u16(&r->in);
		n->custom = bytes_take(&r->in, n->custom_bytes);
	}
	if (r->in.bad) {
		diag_at(r->diag, reader_offset(r), "event metadata ends inside a field");
		return -EBADMSG;
	}
	uint8_t type = n->in & TLG_TYPE;
	if (how != TLG_CUSTOM && type > TDH_INTYPE_MANIFEST_COUNTEDBINARY) {
		diag_at(r->diag, reader_offset(r), "unknown field type %u in event metadata", type);
		return -EBADMSG;
	}
	return 0;
}

static bool node_is_struct(const struct node *n)
{
	return (n->in & TLG_COUNT) != TLG_CUSTOM && (n->in & TLG_TYPE) == SCHEMA_IN_STRUCT;
}

/* Fills r->nodes; *ret_first is the first top-level node. */
static int read_nodes(struct reader *r, uint16_t *ret_first)
{
	struct {
		unsigned left;  /* members still to come; UINT_MAX at top level */
		uint16_t *link; /* where the next node of this level is hung */
	} open[SCHEMA_DEPTH_MAX + 1];
	unsigned depth = 0;
	open[0].left = UINT32_MAX;
	open[0].link = ret_first;
	*ret_first = NO_NODE;
	while (bytes_left(&r->in) > 0) {
		while (open[depth].left == 0) {
			depth--;
		}
		if (r->node_count == SCHEMA_FIELDS_MAX) {
			diag_at(r->diag, reader_offset(r), "more than %u fields", SCHEMA_FIELDS_MAX);
			return -EBADMSG;
		}
		uint16_t index = (uint16_t)r->node_count++;
		struct node *n = &r->nodes[index];
		int err = read_node(r, n);
		if (err < 0) {
			return err;
		}
		*open[depth].link = index;
		open[depth].link = &n->next;
		if (open[depth].left != UINT32_MAX) {
			open[depth].left--;
		}
		if (node_is_struct(n) && n->out > 0) {
			if (depth == SCHEMA_DEPTH_MAX) {
				diag_at(r->diag, reader_offset(r), "structs nested too deep");
				return -EBADMSG;
			}
			depth++;
			open[depth].left = n->out;
			open[depth].link = &n->first_child;
		}
	}
	for (; depth > 0; depth--) {
		if (open[depth].left != 0) {
			diag_at(r->diag, reader_offset(r), "a struct lacks members");
			return -EBADMSG;
		}
	}
	return 0;
}

static uint16_t sized_out(uint16_t in, const uint16_t by_size[4], uint16_t other)
{
	switch (in) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8: return by_size[0];
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_UINT16: return by_size[1];
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_UINT32:
	case TDH_INTYPE_HEXINT32:
	case TDH_INTYPE_BOOLEAN: return by_size[2];
	case TDH_INTYPE_INT64:
	case TDH_INTYPE_UINT64:
	case TDH_INTYPE_HEXINT64:
	case TDH_INTYPE_POINTER: return by_size[3];
	default: return other;
	}
}

/* TraceLogging's out types to TDH's. */
static uint16_t tdh_out(uint16_t in, uint8_t out)
{
	static const uint16_t hex[4] = {TDH_OUTTYPE_HEXINT8, TDH_OUTTYPE_HEXINT16, TDH_OUTTYPE_HEXINT32,
					TDH_OUTTYPE_HEXINT64};
	static const uint16_t is_signed[4] = {TDH_OUTTYPE_BYTE, TDH_OUTTYPE_SHORT, TDH_OUTTYPE_INT, TDH_OUTTYPE_LONG};
	static const uint16_t is_unsigned[4] = {TDH_OUTTYPE_UNSIGNEDBYTE, TDH_OUTTYPE_UNSIGNEDSHORT,
						TDH_OUTTYPE_UNSIGNEDINT, TDH_OUTTYPE_UNSIGNEDLONG};
	uint16_t plain = manifest_out_default(in);
	switch (out) {
	case 1: return TDH_OUTTYPE_NOPRINT;
	case 2: return TDH_OUTTYPE_STRING;
	case 3: return TDH_OUTTYPE_BOOLEAN;
	case 4:
		return sized_out(in, hex,
				 in == TDH_INTYPE_BINARY || in == TDH_INTYPE_MANIFEST_COUNTEDBINARY
					 ? TDH_OUTTYPE_HEXBINARY
					 : plain);
	case 5: return TDH_OUTTYPE_PID;
	case 6: return TDH_OUTTYPE_TID;
	case 7: return TDH_OUTTYPE_PORT;
	case 8: return TDH_OUTTYPE_IPV4;
	case 9: return TDH_OUTTYPE_IPV6;
	case 10: return TDH_OUTTYPE_SOCKETADDRESS;
	case 11: return TDH_OUTTYPE_XML;
	case 12: return TDH_OUTTYPE_JSON;
	case 13: return TDH_OUTTYPE_WIN32ERROR;
	case 14: return TDH_OUTTYPE_NTSTATUS;
	case 15: return TDH_OUTTYPE_HRESULT;
	case 16: return TDH_OUTTYPE_DATETIME;
	case 17: return sized_out(in, is_signed, plain);
	case 18: return sized_out(in, is_unsigned, plain);
	case 35:
	case 36:
	case 37:
	case 38: return out;
	default: return plain;
	}
}

/* TDH has no element count or byte count inside a value, so it shows them as a property of their
 * own before the one they belong to; PerfView and others rely on that place. [obs] place, [asm]
 * names */
static void add_hidden(struct schema_build *b, const struct node *n, const char *suffix)
{
	struct schema_field *f = schema_build_field(b);
	if (!f) {
		return;
	}
	f->in_type = TDH_INTYPE_UINT16;
	f->out_type = TDH_OUTTYPE_UNSIGNEDSHORT;
	f->hidden = true;
	f->captured = true;
	struct schema_str name = schema_build_utf8(b, n->name, n->name_bytes);
	schema_build_name(b, f, name, suffix);
}

static void add_field(struct schema_build *b, const struct node *n)
{
	uint8_t how = n->in & TLG_COUNT;
	uint16_t in = n->in & TLG_TYPE;
	bool custom = how == TLG_CUSTOM;
	bool variable = how == TLG_COUNT_VARIABLE;
	/* A byte count per element cannot be shown as one property: such arrays hold counted
	 * binaries. */
	bool binary = custom || (in == TDH_INTYPE_BINARY && how == 0);
	if (variable) {
		add_hidden(b, n, ".Count");
	} else if (binary) {
		add_hidden(b, n, ".Length");
	}
	struct schema_field *f = schema_build_field(b);
	if (!f) {
		return;
	}
	uint16_t before = (uint16_t)(b->field_count - 2);
	f->in_type = in;
	if (node_is_struct(n)) {
		f->flags |= PropertyStruct;
		f->in_type = TDH_INTYPE_NULL;
	} else if (custom) {
		f->in_type = TDH_INTYPE_BINARY;
		f->flags |= PropertyHasCustomSchema;
		f->custom_protocol = in;
		f->custom = schema_build_bytes(b, n->custom, n->custom_bytes);
		f->out_type = TDH_OUTTYPE_HEXBINARY;
	} else {
		if (in == TDH_INTYPE_BINARY && !binary) {
			f->in_type = TDH_INTYPE_MANIFEST_COUNTEDBINARY;
		}
		f->out_type = tdh_out(f->in_type, n->out);
	}
	if (variable) {
		f->flags |= PropertyParamCount;
		f->count = before;
	} else if (how == TLG_COUNT_FIXED) {
		f->flags |= PropertyParamFixedCount;
		f->count = n->count;
	}
	if (binary) {
		f->flags |= PropertyParamLength;
		f->length = before;
	}
	if (n->has_tags) {
		f->flags |= PropertyHasTags;
		f->tags = n->tags;
	}
	struct schema_str name = schema_build_utf8(b, n->name, n->name_bytes);
	schema_build_name(b, f, name, NULL);
}

/* Appends the fields of the level that starts with node `first`, then of every struct in it. */
static int lay_out(struct schema_build *b, const struct node *nodes, uint16_t first)
{
	uint16_t *node_of = malloc(SCHEMA_FIELDS_MAX * sizeof *node_of);
	if (!node_of) {
		return -ENOMEM;
	}
	uint32_t done = 0;
	uint16_t level = first;
	for (;;) {
		for (uint16_t i = level; i != NO_NODE; i = nodes[i].next) {
			add_field(b, &nodes[i]);
			if (b->failed) {
				free(node_of);
				return b->field_count >= SCHEMA_FIELDS_MAX ? -EBADMSG : -ENOMEM;
			}
			node_of[b->field_count - 1] = i;
		}
		if (level == first && done == 0) {
			b->head.top_count = b->field_count;
		}
		while (done < b->field_count && !(b->fields[done].flags & PropertyStruct)) {
			done++;
		}
		if (done == b->field_count) {
			break;
		}
		struct schema_field *f = &b->fields[done];
		const struct node *n = &nodes[node_of[done]];
		f->first_member = (uint16_t)b->field_count;
		level = n->first_child;
		uint32_t before = b->field_count;
		for (uint16_t i = level; i != NO_NODE; i = nodes[i].next) {
			/* the loop above adds them; hidden ones count as members too */
			uint8_t how = nodes[i].in & TLG_COUNT;
			bool binary = how == TLG_CUSTOM || (how == 0 && (nodes[i].in & TLG_TYPE) == TDH_INTYPE_BINARY);
			before += 1 + (how == TLG_COUNT_VARIABLE || binary);
		}
		f->member_count = (uint16_t)(before - b->field_count);
		done++;
	}
	free(node_of);
	return 0;
}

int schema_load_tlg(const void *metadata, size_t n, struct schema_event **ret, struct diag *d)
{
	struct reader r = {.in = bytes_of(metadata, n), .start = metadata, .diag = d};
	uint16_t size = bytes_u16(&r.in);
	if (r.in.bad || size < 4 || size > n) {
		diag_at(d, 0, "event metadata says %u bytes but has %zu", size, n);
		return -EBADMSG;
	}
	r.in.end = r.start + size;
	uint32_t tags = read_tags(&r.in);
	size_t name_bytes = 0;
	const char *name = bytes_asz(&r.in, &name_bytes);
	if (!name) {
		diag_at(d, 2, "event name is not terminated");
		return -EBADMSG;
	}
	/* A field takes two bytes or more. */
	size_t most = BASE_MIN(bytes_left(&r.in) / 2 + 1, (size_t)SCHEMA_FIELDS_MAX);
	r.nodes = malloc(most * sizeof *r.nodes);
	if (!r.nodes) {
		return -ENOMEM;
	}
	struct schema_build b;
	schema_build_init(&b);
	uint16_t first;
	int err = read_nodes(&r, &first);
	if (err == 0) {
		b.head.source = SCHEMA_SOURCE_TLG;
		b.head.flags = tags << 4;
		b.head.event_name = schema_build_utf8(&b, name, name_bytes);
		b.head.task_name = b.head.event_name;
		err = lay_out(&b, r.nodes, first);
		if (err == -EBADMSG) {
			diag_at(d, 0, "more than %u fields", SCHEMA_FIELDS_MAX);
		}
	}
	if (err == 0) {
		err = schema_build_seal(&b, NULL, 0, ret);
	}
	schema_build_finish(&b);
	free(r.nodes);
	return err;
}

bool schema_traits_name(const void *traits, size_t n, const char **ret_name, size_t *ret_bytes)
{
	struct bytes in = bytes_of(traits, n);
	uint16_t size = bytes_u16(&in);
	if (in.bad || size < 3 || size > n) {
		return false;
	}
	in.end = (const uint8_t *)traits + size;
	const char *name = bytes_asz(&in, ret_bytes);
	if (!name || *ret_bytes == 0) {
		return false;
	}
	*ret_name = name;
	return true;
}
