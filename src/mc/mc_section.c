/* SPDX-License-Identifier: MIT
 *
 * What a program carries of its manifest (format/schema_section.h), as bytes and as C.
 */
#include "format/schema_section.h"
#include "mc/mc_private.h"

#include <stdio.h>

void mc_section_record(struct strbuf *out, uint16_t kind, uint16_t language, uint64_t set, const void *data, size_t n)
{
	uint8_t head[SCHEMA_SECTION_HEAD];
	le32_put(head, SCHEMA_SECTION_MAGIC);
	le16_put(head + 4, kind);
	le16_put(head + 6, language);
	le32_put(head + 8, (uint32_t)n);
	le64_put(head + 12, set);
	strbuf_add(out, head, sizeof head);
	strbuf_add(out, data, n);
	strbuf_add(out, "\0\0\0", (0 - n) & 3);
}

uint64_t mc_section_set(const void *data, size_t n, uint64_t before)
{
	const uint8_t *p = data;
	uint64_t h = before ? before : 0xCBF29CE484222325ull;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ p[i]) * 0x100000001B3ull;
	}
	return h;
}

int mc_write_section(const struct mc *mc, struct strbuf *out, struct diag *d)
{
	struct strbuf template = {0}, names = {0}, messages = {0};
	int err = mc_write_template(mc, MC_FORMAT_5, &template, d);
	for (const struct manifest_provider *p = mc->m->providers; p; p = p->next) {
		strbuf_add(&names, p->guid.b, 16);
		strbuf_add(&names, p->name, strlen(p->name) + 1);
	}
	uint64_t set = mc_section_set(names.s, names.len, 0);
	set = err < 0 ? 0 : mc_section_set(template.s, template.len, set);
	if (err == 0) {
		mc_section_record(out, SCHEMA_SECTION_TEMPLATE, 0, set, template.s, template.len);
		mc_section_record(out, SCHEMA_SECTION_NAMES, 0, set, names.s, names.len);
	}
	for (size_t i = 0; err == 0 && mc_has_messages(mc) && i < mc_language_count(mc); i++) {
		uint16_t id = 0x0409;
		mc_language_id(mc_language_name(mc, i), &id);
		strbuf_clear(&messages);
		mc_write_messages(mc, i, &messages);
		mc_section_record(out, SCHEMA_SECTION_MESSAGES, id, set, messages.s, messages.len);
	}
	if (err == 0 && (template.failed || names.failed || messages.failed || out->failed)) {
		err = -ENOMEM;
	}
	strbuf_finish(&template);
	strbuf_finish(&names);
	strbuf_finish(&messages);
	return err;
}

/* Lines of assembler as C text: the same for every compiler and language, and a COMDAT group, so
 * that a program has it once however many of its sources include the header. */
void mc_section_asm(const void *section, size_t n, const char *group, struct strbuf *out)
{
	const uint8_t *p = section;
	strbuf_addf(out,
		    "__asm__(\".pushsection %s,\\\"a\\\",@note\\n\"\n"
		    "\"\\t.balign 4\\n\\t.long 8,4,%u\\n\\t.asciz \\\"%s\\\"\\n\\t.long 1\\n\"\n"
		    "\"\\t.popsection\\n\"\n"
		    "\"\\t.pushsection %s,\\\"aGR\\\",@progbits,%s,comdat\\n\\t.balign 4\\n\"\n",
		    SCHEMA_SECTION_NOTE, SCHEMA_SECTION_NOTE_TYPE, SCHEMA_SECTION_NOTE_NAME, SCHEMA_SECTION_NAME,
		    group);
	size_t at = 0;
	while (n - at >= 8) {
		strbuf_adds(out, "\"\\t.quad ");
		for (size_t i = 0; i < 4 && n - at >= 8; i++, at += 8) {
			strbuf_addf(out, "%s0x%llx", i ? "," : "", (unsigned long long)le64_get(p + at));
		}
		strbuf_adds(out, "\\n\"\n");
	}
	for (; at < n; at++) {
		strbuf_addf(out, "\"\\t.byte %u\\n\"\n", p[at]);
	}
	strbuf_adds(out, "\"\\t.popsection\\n\");\n");
}

void mc_write_embedded(const struct strbuf *section, struct strbuf *out)
{
	char group[64];
	unsigned long long set = mc_section_set(section->s, section->len, 0);
	snprintf(group, sizeof group, "openetw_schema_%016llx", set);
	strbuf_addf(out,
		    "\n/* The manifest itself, for a section of the program: whoever decodes its "
		    "events "
		    "finds it there. */\n"
		    "#if defined(__ELF__) && !defined(MCGEN_NO_EMBEDDED_MANIFEST) && "
		    "!defined(%s)\n#define %s\n",
		    group, group);
	mc_section_asm(section->s, section->len, group, out);
	strbuf_adds(out, "#endif\n");
}
