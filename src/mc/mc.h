/* SPDX-License-Identifier: MIT
 *
 * mc: the message compiler. Front door.
 *
 *   struct manifest (schema) -> mc_build -> names, message ids, enable bits
 *     -> mc_write_header     C header: descriptors, register and write macros, template functions
 *     -> mc_write_template   WEVT_TEMPLATE resource ("CRIM")
 *     -> mc_write_messages   message table of one language
 *     -> mc_write_rc         resource script that names the others
 *
 * Names and control flow of the header are those that Windows' compiler gives user-mode code, so
 * that sources written against its headers compile against ours; the resources are equal byte for
 * byte. mc_names.c knows names, mc_messages.c ids of messages, mc_header*.c and mc_fields.c the
 * header, mc_template*.c and mc_binxml.c the resource.
 *
 * What cannot be compiled is refused with line and column. Nothing here reads or writes files.
 */
#ifndef MC_MC_H
#define MC_MC_H

#include "base/base.h"
#include "manifest/manifest.h"

struct mc_options {
	const char *source; /* file name for the header's first line */
	const char *prefix; /* of write macros; NULL: EventWrite */
	const char *strip;  /* taken off event symbols in macros, case aside; may be NULL */
	bool activity;      /* write macros take an activity id first, as for kernel mode */
	bool no_code;       /* constants and descriptors only */
	bool callout;       /* MCGEN_CALLOUT of the source is called after each event */
};

struct xml_node;
/* What is wrong in a manifest although it can be read: 0, or -EBADMSG with diag. `root` is the
 * document's. */
int mc_check(const struct xml_node *root, struct diag *d);

struct mc;
/* The manifest, read with manifest_read_document, must outlive it. -EBADMSG with diag; -ENOMEM. */
int mc_build(const struct manifest *m, const struct mc_options *o, struct mc **ret, struct diag *d);
void mc_destroy(struct mc *mc);

void mc_write_header(const struct mc *mc, struct strbuf *out);
/* Versions of the resource: compilers up to SDK 10.0.15063 wrote 3.1, which has no attributes of providers and
 * events (so no provider's name), later ones 5.1. */
enum { MC_FORMAT_3 = 3, MC_FORMAT_5 = 5 };
/* -EBADMSG: a template has no binary form; diag says which. */
int mc_write_template(const struct mc *mc, unsigned format, struct strbuf *out, struct diag *d);

/* What a program carries of its manifest: records of format/schema_section.h. As mc_write_template. */
int mc_write_section(const struct mc *mc, struct strbuf *out, struct diag *d);
/* The end of a header: that section as C, for every program that includes it. */
void mc_write_embedded(const struct strbuf *section, struct strbuf *out);
/* For others who make sections: one record; the name of a set; a section as an __asm__ of its own. */
void mc_section_record(struct strbuf *out, uint16_t kind, uint16_t language, uint64_t set, const void *data, size_t n);
uint64_t mc_section_set(const void *data, size_t n, uint64_t before); /* 0 at first */
void mc_section_asm(const void *section, size_t n, const char *group, struct strbuf *out);

/* Languages that have messages, at least one. */
size_t mc_language_count(const struct mc *mc);
/* The Windows language id of a culture's name: "en-US" is 0x0409. -ENOENT when unknown. */
int mc_language_id(const char *culture, uint16_t *ret);
const char *mc_language_name(const struct mc *mc, size_t i);
bool mc_has_messages(const struct mc *mc);
void mc_write_messages(const struct mc *mc, size_t language, struct strbuf *out);
/* `base` is the name of the outputs without ending, `prefix` what stands before MSG00001.bin. */
void mc_write_rc(const struct mc *mc, const char *base, const char *prefix, struct strbuf *out);

#endif
