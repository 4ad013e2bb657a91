/* SPDX-License-Identifier: MIT
 * EventProviderBinaryTrackInfo: where a provider's code lies, so that decoders can look for
 * messages and manifests in it. Each session that has the provider enabled, and has not asked for
 * the contrary (TraceProviderBinaryTracking), gets one record of it: EventTrace group, opcode 0x43
 * (u32 GuidCount, GUIDs, terminated UTF-16 path), as in real files.
 */
#include "etw/values/errors.h"
#include "etwd/etwd.h"
#include "etwd/etwd_conn.h"
#include "etwd/etwd_explain.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "etwd/etwd_route.h"
#include "etwd/etwd_session.h"
#include "format/etl_head.h"
#include "proto/proto.h"
#include "sink/sink.h"

#include <limits.h>
#include <stdlib.h>

#define HOOK_BINARY_PATH 0x0043u

void etwd_binary_write(struct etwd *d, struct session *s, const struct registration *r)
{
	uint16_t wide[PATH_MAX];
	if (!r->binary || !s->sink || s->no_binaries) {
		return;
	}
	long units = utf8_to_utf16(r->binary, strlen(r->binary), wide, BASE_ARRAY_LEN(wide) - 1);
	if (units < 0 || (size_t)units >= BASE_ARRAY_LEN(wide)) {
		return;
	}
	wide[units] = 0;
	uint32_t bytes = ETL_SYSTEM_HEADER_SIZE + 4 + 16 + 2 * ((uint32_t)units + 1);
	uint64_t time = etwd_session_time(d, s, clock_now_of(d->clock_kind));
	uint8_t *out = sink_reserve(s->sink, 0, time, BASE_ALIGN8(bytes));
	if (!out) {
		return; /* counted */
	}
	memset(out, 0, BASE_ALIGN8(bytes));
	const struct etl_hook_head head = {
		.type = ETL_RT_SYSTEM64,
		.version = 2,
		.hook = HOOK_BINARY_PATH,
		.pid = (uint32_t)r->process->pid,
		.time = time,
	};
	etl_hook_head_put(out, bytes, &head);
	uint8_t *body = out + ETL_SYSTEM_HEADER_SIZE;
	le32_put(body, 1);
	memcpy(body + 4, r->guid.b, 16);
	for (long i = 0; i < units; i++) {
		le16_put(body + 20 + 2 * i, wide[i]);
	}
}

void etwd_binary_track(struct etwd *d, struct conn *c, const struct proto_message *m)
{
	uint32_t index;
	char path[PATH_MAX];
	struct process *p = c->process;
	if (!proto_get_u32(m, PROTO_TAG_PROVIDER_INDEX, &index) || index >= p->reg_cap || !p->reg[index] ||
	    !p->reg[index]->provider || !proto_get_str(m, PROTO_TAG_PATH, path, sizeof path)) {
		etwd_reply_status(d, c, m, ERROR_INVALID_PARAMETER, "BINARY_TRACK needs a registration and a path");
		return;
	}
	struct registration *r = p->reg[index];
	char *copy = strdup(path);
	if (!copy) {
		etwd_reply_status(d, c, m, ERROR_NOT_ENOUGH_MEMORY, NULL);
		return;
	}
	free(r->binary);
	r->binary = copy;
	for (uint32_t i = 0; r->config && i < r->config->rows; i++) {
		etwd_binary_write(d, r->config->row[i].session, r);
	}
	etwd_reply_status(d, c, m, 0, NULL);
}
