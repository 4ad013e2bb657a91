/* SPDX-License-Identifier: MIT
 *
 * Buffers with EventMetadata records are put behind the last one. Their time is the start of the
 * trace, so readers, who bring buffers into the order of their first records, have them before any
 * event. A file that cannot be finished is as it was, but for a longer end that nobody counts.
 */
#include "libetw/embed.h"

#include "base/elf.h"
#include "base/map.h"
#include "base/vec.h"
#include "etl/etl_reader.h"
#include "format/etl_item.h"
#include "format/schema_section.h"
#include "libetw/embed_append.h"
#include "openetw/decode.h"
#include "manifest/manifest_section.h"
#include "schema/schema_store.h"
#include "etw/values/errors.h"
#include "etw/values/guids.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#define SCAN_RECORDS_MAX 16000000u /* of larger files, what their first records name */
#define KEYS_MAX         2048u
#define EMBED_BYTES_MAX  (16u << 20)
#define MESSAGE_GUID     0x0002u
#define MESSAGE_ID       0xFFFFu
#define FORMATS_MAX      (8u << 20)

static const struct guid metadata_class = GUID_INIT(ETW_GUID_CLASS_EVENT_METADATA);

struct key {
	struct guid provider;
	uint16_t id;
	uint8_t version;
	bool described;
	bool message; /* of WPP: the GUID is that of a source's messages, the id says nothing */
};
struct embed {
	struct key *keys;
	uint32_t count, cap;
	struct map places; /* of keys */
	struct strbuf records;
	const struct etl_file_info *info;
	uint32_t described;
	bool loaded; /* also what no directory has */
};

/* Made when it is new; NULL: there are too many. */
static struct key *find_key(struct embed *x, const struct guid *g, uint16_t id, uint8_t version)
{
	uint8_t parts[sizeof g->b + 3];
	memcpy(parts, g->b, sizeof g->b);
	le16_put(parts + 16, id);
	parts[18] = version;
	uint64_t hash = map_hash(&x->places, parts, sizeof parts);
	MAP_EACH(&x->places, hash, at) {
		struct key *k = &x->keys[map_value(&x->places, at)];
		if (k->id == id && k->version == version && guid_equal(&k->provider, g)) {
			return k;
		}
	}
	if (!VEC_ROOM_UP_TO(x->keys, x->count, x->cap, KEYS_MAX) || map_add(&x->places, hash, x->count) < 0) {
		return NULL;
	}
	x->keys[x->count] = (struct key){.provider = *g, .id = id, .version = version};
	return &x->keys[x->count++];
}

static bool wanted(uint8_t type, const uint8_t *raw)
{
	return type == ETL_RT_EVENT64 || type == ETL_RT_EVENT32 || type == ETL_RT_FULL64 || type == ETL_RT_FULL32 ||
	       type == ETL_RT_MESSAGE;
}

static bool describes_itself(const struct etl_record *r)
{
	uint32_t at = 0;
	uint16_t type, bytes;
	const uint8_t *data;
	while (etl_item_next(r->items, r->items_bytes, &at, &type, &data, &bytes)) {
		if (type == ETL_ITEM_EVENT_SCHEMA_TL) {
			return true;
		}
	}
	return (r->event_flags & ETL_EF_STRING_ONLY) != 0;
}

static void look(struct embed *x, struct etl_reader *reader)
{
	struct etl_record r;
	etl_reader_only(reader, wanted);
	for (uint32_t n = 0; n < SCAN_RECORDS_MAX && etl_reader_next(reader, &r) == 1; n++) {
		if (r.type == ETL_RT_EVENT64 || r.type == ETL_RT_EVENT32) {
			if (!describes_itself(&r)) {
				find_key(x, &r.provider, r.id, r.version);
			}
		} else if (r.type == ETL_RT_MESSAGE) {
			struct key *k =
				(r.message_flags & MESSAGE_GUID) ? find_key(x, &r.provider, MESSAGE_ID, 0) : NULL;
			if (k) {
				k->message = true;
			}
		} else if (guid_equal(&r.provider, &metadata_class) && r.opcode == SCHEMA_METADATA_TMF &&
			   r.payload_bytes > 36) {
			char text[37] = "";
			struct guid g;
			memcpy(text, r.payload, 36);
			struct key *k = guid_parse(text, &g) == 0 ? find_key(x, &g, MESSAGE_ID, 0) : NULL;
			if (k) {
				k->described = true;
			}
		} else if (guid_equal(&r.provider, &metadata_class) && r.opcode == SCHEMA_METADATA_EVENT &&
			   r.payload_bytes >= 48) {
			struct guid g; /* TRACE_EVENT_INFO: provider, class, descriptor */
			memcpy(g.b, r.payload, 16);
			struct key *k = find_key(x, &g, le16_get(r.payload + 32), r.payload[34]);
			if (k) {
				k->described = true;
			}
		}
	}
}

/* A classic record of the class, at the start of the trace. */
static bool put_record(struct embed *x, uint8_t opcode, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
	uint8_t head[ETL_FULL_HEADER_SIZE] = {0};
	size_t bytes = sizeof head + a_bytes + b_bytes;
	if (bytes > ETL_RECORD_MAX || BASE_ALIGN8(bytes) > x->info->buffer_size - ETL_BUFFER_HEADER_SIZE ||
	    x->records.len + bytes > EMBED_BYTES_MAX) {
		return false;
	}
	le16_put(head, (uint16_t)bytes);
	head[2] = ETL_RT_FULL64;
	head[3] = 0xC0;
	head[4] = opcode;
	le32_put(head + 8, UINT32_MAX); /* of no thread and no process: readers know it by that */
	le32_put(head + 12, UINT32_MAX);
	le64_put(head + 0x10, x->info->start_raw);
	memcpy(head + 0x18, metadata_class.b, 16);
	strbuf_add(&x->records, head, sizeof head);
	strbuf_add(&x->records, a, a_bytes);
	strbuf_add(&x->records, b, b_bytes);
	strbuf_add(&x->records, "\0\0\0\0\0\0\0", BASE_ALIGN8(bytes) - bytes);
	return true;
}

/* ---- formats of WPP messages: text of a .tmf file, cut into records between messages -----------
 */

struct formats {
	const struct guid *guid;
	struct strbuf text;
};

static bool begins_with(const uint8_t *p, size_t n, const struct guid *wanted)
{
	char text[37] = "";
	struct guid g;
	memcpy(text, p, BASE_MIN(n, (size_t)36));
	return guid_parse(text, &g) == 0 && guid_equal(&g, wanted);
}

static void take_sections(struct formats *f, const uint8_t *p, size_t n)
{
	struct manifest_section_record r;
	for (size_t at = 0; manifest_section_next(p, n, &at, &r);) {
		if (r.kind == SCHEMA_SECTION_TMF && begins_with(r.data, r.bytes, f->guid)) {
			strbuf_clear(&f->text);
			strbuf_add(&f->text, r.data, r.bytes);
		}
	}
}

/* The last file goes before the others. */
static int take_file(void *ctx, const char *path)
{
	struct formats *f = ctx;
	uint8_t *p = NULL;
	size_t n = 0;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : elf_section_read(fd, SCHEMA_SECTION_NAME, SCHEMA_SECTION_BYTES_MAX, &p, &n);
	if (err == 0) {
		take_sections(f, p, n);
	} else if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size < FORMATS_MAX &&
		   (p = malloc((size_t)st.st_size + 1)) != NULL && pread(fd, p, (size_t)st.st_size, 0) == st.st_size) {
		n = (size_t)st.st_size;
		if (n >= 4 && le32_get(p) == SCHEMA_SECTION_MAGIC) {
			take_sections(f, p, n);
		} else if (begins_with(p, n, f->guid)) { /* those with remarks in front stay files */
			strbuf_clear(&f->text);
			strbuf_add(&f->text, p, n);
		}
	}
	free(p);
	base_close(&fd);
	return 0;
}

static void describe_messages(struct embed *x, const struct guid *g)
{
	struct formats f = {.guid = g};
	schema_files_of(g, take_file, &f);
	const char *line = f.text.s ? strchr(f.text.s, '\n') : NULL;
	size_t head = line ? (size_t)(line + 1 - f.text.s) : 0;
	size_t room =
		BASE_MIN(x->info->buffer_size - ETL_BUFFER_HEADER_SIZE, ETL_RECORD_MAX) - ETL_FULL_HEADER_SIZE - 8;
	for (const char *s = f.text.s + head; head && head < room / 2 && *s;) {
		const char *end = s;
		/* as many messages as fit */
		for (const char *next = s; *next;) {
			const char *more = strstr(next + 1, "\n#typev ");
			next = more ? more + 1 : next + strlen(next);
			if (head + (size_t)(next - s) > room) {
				break;
			}
			end = next;
		}
		if (end == s || !put_record(x, SCHEMA_METADATA_TMF, f.text.s, head, s, (size_t)(end - s))) {
			break;
		}
		x->described++;
		s = end;
	}
	strbuf_finish(&f.text);
}

static int found_file(void *ctx, const char *path)
{
	return 1;
}

static bool same_map(const struct schema_event *e, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++) {
		if (e->fields[k].bound == e->fields[i].bound) {
			return true;
		}
	}
	return false;
}

static void describe(struct embed *x, const struct key *k)
{
	if (k->message) {
		describe_messages(x, &k->provider);
		return;
	}
	/* What is built in, every decoder of ours has. */
	if (!x->loaded && !schema_files_of(&k->provider, found_file, NULL)) {
		return;
	}
	const struct schema_event *e = schema_process_find(false, &k->provider, k->id, k->version);
	if (!e || e->source != SCHEMA_SOURCE_XML) {
		return;
	}
	for (uint32_t i = 0; i < e->field_count; i++) {
		const struct schema_map *m = e->fields[i].bound;
		if (m && !same_map(e, i)) {
			put_record(x, SCHEMA_METADATA_MAP, k->provider.b, 16, m->block, m->block_bytes);
		}
	}
	struct schema_tei_names names = {.provider = k->provider};
	struct openetw_text block = {0};
	if (schema_build_tei(e, &names, &block) == 0 && !block.failed &&
	    put_record(x, SCHEMA_METADATA_EVENT, block.data, block.length, NULL, 0)) {
		x->described++;
	}
	openetw_text_free(&block);
}

/* Takes the descriptor. */
static int embed_into(int fd, bool loaded)
{
	struct etl_reader *reader = NULL;
	struct embed_place place;
	char same[40];
	struct embed *x = fd < 0 ? NULL : calloc(1, sizeof *x);
	int err = fd < 0 ? fd : !x ? -ENOMEM : 0;
	/* The sessions' own lock: nobody writes the file while we do, or was it replaced already? */
	if (err == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err = -EBUSY;
	}
	if (err == 0) {
		snprintf(same, sizeof same, "/proc/self/fd/%d", fd);
		err = etl_reader_open(same, ETL_READER_FILE_ORDER, &reader, NULL);
	}
	if (err == 0 && embed_place_find(fd, etl_reader_info(reader), &place)) {
		x->info = etl_reader_info(reader);
		x->loaded = loaded;
		look(x, reader);
		if (x->count) {
			schema_process_refresh(true);
		}
		for (uint32_t i = 0; i < x->count; i++) {
			if (!x->keys[i].described) {
				describe(x, &x->keys[i]);
			}
		}
		err = x->records.failed ? -ENOMEM : x->described ? embed_append(&place, &x->records) : 0;
	}
	err = err < 0 ? err : x ? (int)x->described : 0;
	etl_reader_close(reader);
	if (fd >= 0) {
		flock(fd, LOCK_UN); /* a child forked meanwhile may have inherited the descriptor */
	}
	base_close(&fd);
	if (x) {
		strbuf_finish(&x->records);
		free(x->keys);
		map_free(&x->places);
	}
	free(x);
	return err;
}

int embed_schemas(const char *path, bool loaded)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return embed_into(fd < 0 ? -errno : fd, loaded);
}

static uint32_t described(int n, uint32_t *ret_events)
{
	if (n >= 0 && ret_events) {
		*ret_events = (uint32_t)n;
	}
	return n < 0 ? (n == -EBUSY ? ERROR_SHARING_VIOLATION : win32_from_errno(n)) : 0;
}

uint32_t openetw_trace_describe(const char *path, uint32_t *ret_events)
{
	return path ? described(embed_schemas(path, false), ret_events) : ERROR_INVALID_PARAMETER;
}

uint32_t openetw_trace_describe_descriptor(int fd, uint32_t *ret_events)
{
	int mine = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return mine < 0 ? ERROR_INVALID_HANDLE : described(embed_into(mine, false), ret_events);
}
