/* SPDX-License-Identifier: MIT
 *
 * Events whose form is fixed by their kind, written as a catalogue of their own.
 */
#include "schema/catalogue.h"
#include "schema/schema_manifest.h"

static const char special_text[] = "class Special 00000000-0000-0000-0000-000000000001\n"
				   "event 0 String\n"
				   "0 wsz Message\n"
				   "event 1 ManifestData\n"
				   "0 u8 Format, u8 MajorVersion, u8 MinorVersion, u8 Magic, "
				   "u16 TotalChunks, u16 ChunkNumber, rest Data\n";

struct special {
	enum schema_special kind;
	struct schema_event **ret;
};

static int load(void *ctx, const struct catalogue_section *s)
{
	struct special *x = ctx;
	struct manifest m;
	int err = catalogue_read_section(s, &m, NULL);
	if (err < 0) {
		return err;
	}
	struct manifest_provider *p = m.providers;
	struct manifest_event *e = p->events;
	while (e->next && e->id != (uint16_t)x->kind) {
		e = e->next;
	}
	p->guid = GUID_ZERO;
	p->name = "";
	e->task_of = e->opcode_of; /* the event's only name */
	e->opcode_of = NULL;
	err = schema_manifest_event(p, e, SCHEMA_SOURCE_XML, x->ret);
	manifest_finish(&m);
	return err < 0 ? err : 1;
}

int schema_load_special(enum schema_special kind, struct schema_event **ret)
{
	struct special x = {kind, ret};
	int err = catalogue_each_section(special_text, sizeof special_text - 1, load, &x);
	return err < 0 ? err : 0;
}
