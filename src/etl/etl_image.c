/* SPDX-License-Identifier: MIT
 *
 * Payloads: Image version 3, Process version 4, ImageID version 2 (information and DbgID_RSDS), each with the header
 * that Windows gives it: short ones without ids for what is said of what was there before, ones with ids for what
 * happens, full ones for the classes of a merge.
 */
#include "etl/etl_image.h"

#include "etw/values/guids.h"
#include "etl/etl_reader.h"
#include "format/etl_head.h"
#include "format/unix_sid.h"
#include "format/kernel_class.h"
#include "kernel_payload.h"

#include <stdio.h>

#define PROCESS_VERSION  4u
#define IMAGE_VERSION    3u
#define IMAGE_ID_VERSION 2u
#define BUILD_GUID_BYTES 16u
#define NO_SESSION       UINT32_MAX
#define STILL_ALIVE      0x103u
#define NAME_MAX_BYTES   250u
#define PAYLOAD_MAX      (64u + 2 * (ETL_IMAGE_PATH_UNITS + 1))

static const struct guid image_id = GUID_INIT(ETW_GUID_CLASS_IMAGE_ID);

bool etl_image_explains(const struct etl_record *r, struct etl_image_last *last)
{
	if (BASE_LIKELY(r->type == ETL_RT_EVENT64)) {
		return false;
	}
	const struct kernel_payload in = {r->payload, r->payload_bytes, 8};
	bool image = r->hook == ETL_IMAGE_LOAD || (r->hook >= ETL_IMAGE_UNLOAD && r->hook <= ETL_IMAGE_DC_END);
	if (r->hook >= ETL_PROCESS_START && r->hook <= ETL_PROCESS_DC_END) {
		return kernel_payload_get(in, KP_PROCESS_START_SINCE_V2_UNIQUE_PROCESS_KEY) >> 32 == ETL_IMAGE_EXPLAINS;
	}
	if (image) {
		bool yes = kernel_payload_get(in, KP_IMAGE_LOAD_SINCE_V2_RESERVED1) == ETL_IMAGE_EXPLAINS;
		*last = (struct etl_image_last){yes ? r->time_raw : 0,
						yes ? kernel_payload_get(in, KP_IMAGE_LOAD_SINCE_V0_IMAGE_BASE) : 0};
		return yes;
	}
	return r->type == ETL_RT_FULL64 && last->base != 0 && r->time_raw == last->time &&
	       kernel_payload_get(in, KP_IMAGE_ID_INFO_SINCE_V0_IMAGE_BASE) == last->base &&
	       guid_equal(&r->provider, &image_id);
}

struct payload {
	uint32_t n;
	uint8_t p[PAYLOAD_MAX];
};

static void put(struct payload *b, uint64_t v, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes && b->n < PAYLOAD_MAX; i++) {
		b->p[b->n++] = (uint8_t)(v >> (8 * i));
	}
}

static void put_wide(struct payload *b, const char *text)
{
	uint16_t wide[ETL_IMAGE_PATH_UNITS + 1];
	long n = utf8_to_utf16(text, strlen(text), wide, ETL_IMAGE_PATH_UNITS);
	n = n < 0 ? 0 : BASE_MIN(n, (long)ETL_IMAGE_PATH_UNITS);
	for (long i = 0; i < n; i++) {
		put(b, wide[i], 2);
	}
	put(b, 0, 2);
}

static void put_text(struct payload *b, const char *text, const char *suffix)
{
	char s[NAME_MAX_BYTES + 8];
	int n = snprintf(s, sizeof s, "%.*s%s", (int)NAME_MAX_BYTES, text, suffix);
	for (int i = 0; i <= n; i++) {
		put(b, (uint8_t)s[i], 1);
	}
}

/* Windows says of what was there already that it is so, without whose thread said it. */
static bool is_short(uint16_t hook)
{
	return hook == ETL_IMAGE_DC_START || hook == ETL_IMAGE_DC_END || hook == ETL_PROCESS_DC_START ||
	       hook == ETL_PROCESS_DC_END;
}

static void out(uint16_t hook, uint16_t version, uint32_t pid, uint64_t time, const struct payload *b,
		etl_image_room_fn room, void *ctx)
{
	const struct etl_hook_head h = {
		.type = is_short(hook) ? ETL_RT_PERFINFO64 : ETL_RT_SYSTEM64,
		.version = version,
		.hook = hook,
		.pid = pid,
		.tid = pid, /* the first thread has the process's number */
		.time = time,
	};
	uint32_t head = etl_hook_head_bytes(h.type);
	uint32_t bytes = head + b->n, all = BASE_ALIGN8(bytes);
	uint8_t *p = room(ctx, time, all);
	if (!p) {
		return;
	}
	etl_hook_head_put(p, bytes, &h);
	memcpy(p + head, b->p, b->n);
	memset(p + bytes, 0, all - bytes);
}

static void out_id(uint8_t type, uint32_t pid, uint64_t time, const struct payload *b, etl_image_room_fn room,
		   void *ctx)
{
	uint32_t bytes = ETL_FULL_HEADER_SIZE + b->n, all = BASE_ALIGN8(bytes);
	uint8_t *p = room(ctx, time, all);
	if (!p) {
		return;
	}
	const struct etl_full_head h = {
		.type = ETL_RT_FULL64,
		.opcode = type,
		.version = IMAGE_ID_VERSION,
		.pid = pid,
		.tid = pid,
		.time = time,
		.class = image_id.b,
	};
	etl_full_head_put(p, bytes, &h);
	memcpy(p + ETL_FULL_HEADER_SIZE, b->p, b->n);
	memset(p + bytes, 0, all - bytes);
}

static void put_identity(uint64_t time, const struct etl_image *i, etl_image_room_fn room, void *ctx)
{
	const char *slash = strrchr(i->path, '/');
	const char *name = slash ? slash + 1 : i->path;
	struct payload b = {.n = 0};
	if (!i->build_id || i->build_id_bytes < BUILD_GUID_BYTES) {
		return;
	}
	put(&b, i->base, 8);
	put(&b, i->bytes, 8);
	put(&b, i->pid, 4);
	put(&b, le32_get(i->build_id), 4);
	put_wide(&b, name);
	out_id(KP_IMAGE_ID_INFO, i->pid, time, &b, room, ctx);
	b.n = 0;
	put(&b, i->base, 8);
	put(&b, i->pid, 4);
	put(&b, le64_get(i->build_id), 8);
	put(&b, le64_get(i->build_id + 8), 8);
	put(&b, 1, 4); /* Age */
	put_text(&b, name, ".pdb");
	out_id(KP_IMAGE_ID_DBG_ID_RSDS, i->pid, time, &b, room, ctx);
}

void etl_image_put(enum etl_image_hook hook, uint64_t time, const struct etl_image *i, etl_image_room_fn room,
		   void *ctx)
{
	bool known = i->build_id && i->build_id_bytes >= 8;
	struct payload b = {.n = 0};
	put(&b, i->base, 8);
	put(&b, i->bytes, 8);
	put(&b, i->pid, 4);
	put(&b, known ? le32_get(i->build_id + 4) : 0, 4); /* ImageChecksum */
	put(&b, known ? le32_get(i->build_id) : 0, 4);     /* TimeDateStamp */
	put(&b, 0, 4);                                     /* signature */
	put(&b, i->base, 8);                               /* DefaultBase */
	put(&b, ETL_IMAGE_EXPLAINS, 8);                    /* Reserved1 to Reserved4 */
	put(&b, 0, 8);
	put_wide(&b, i->path);
	out((uint16_t)hook, IMAGE_VERSION, i->pid, time, &b, room, ctx);
	if (hook != ETL_IMAGE_UNLOAD) {
		put_identity(time, i, room, ctx);
	}
}

void etl_process_put(enum etl_image_hook hook, uint64_t time, const struct etl_process *p, etl_image_room_fn room,
		     void *ctx)
{
	bool alive = hook != ETL_PROCESS_END;
	uint8_t sid[UNIX_SID_BYTES];
	unix_sid_put(sid, p->uid);
	struct payload b = {.n = 0};
	put(&b, (uint64_t)ETL_IMAGE_EXPLAINS << 32 | p->pid, 8); /* UniqueProcessKey */
	put(&b, p->pid, 4);
	put(&b, p->parent, 4);
	put(&b, NO_SESSION, 4);
	put(&b, alive ? STILL_ALIVE : 0, 4); /* ExitStatus */
	put(&b, 0, 8);                       /* DirectoryTableBase */
	put(&b, 0, 4);                       /* Flags */
	put(&b, 1, 8);                       /* a pointer that is not zero: a SID follows */
	put(&b, 0, 8);
	put(&b, le64_get(sid), 8);
	put(&b, le64_get(sid + 8), 8);
	put_text(&b, p->name, "");
	put(&b, 0, 2); /* CommandLine, PackageFullName, ApplicationId */
	put(&b, 0, 2);
	put(&b, 0, 2);
	out((uint16_t)hook, PROCESS_VERSION, p->pid, time, &b, room, ctx);
}
