/* SPDX-License-Identifier: MIT
 *
 * Between the files of mc: a manifest with the names it gets in C.
 */
#ifndef MC_MC_PRIVATE_H
#define MC_MC_PRIVATE_H

#include "mc/mc.h"

#define MC_NO_MESSAGE UINT32_MAX

struct mc_event {
	const struct manifest_event *e;
	const char *symbol;
	const char *macro; /* symbol without the prefix to strip */
	const char *codes; /* of its template: "zqB3" */
	uint8_t channel;   /* as in the descriptor */
	uint32_t bit;      /* among the enable bits */
};
struct mc_bit {
	uint64_t keyword;
	uint8_t level;
};
struct mc_provider {
	const struct manifest_provider *p;
	unsigned index;
	const char *symbol;
	const char *mangled; /* name as identifier */
	const char *reg;     /* EventRegister<reg> */
	const char *handle;
	bool controlled; /* has a control GUID */
	bool traits;
	struct mc_event *events;
	size_t event_count; /* those in the header: notLogged ones are not */
	struct mc_bit *bits;
	uint32_t bit_count;
};
/* What a message belongs to, for its id; see mc_message_id. */
struct mc_message {
	const char *ref; /* as written; winmeta's: mc_name_ref */
	const char *id;  /* of the string; NULL: `text` is it in all languages */
	const char *text;
	uint32_t value;
};
struct mc {
	struct arena arena;
	const struct manifest *m;
	struct mc_options o;
	struct mc_provider *providers;
	size_t provider_count;
	struct mc_message *messages; /* by reference */
	size_t message_count, message_cap;
	bool any_traits;
};

/* ---- checks ---- */

struct xml_node;
/* Words that are none of a manifest's, from this element down. */
int mc_check_grammar(const struct xml_node *n, struct diag *d);

/* ---- names ---- */

/* The text with everything that cannot stand in an identifier replaced. NULL: no memory. */
const char *mc_identifier(struct mc *mc, const char *text);
const char *mc_text(struct mc *mc, const char *fmt, ...) BASE_PRINTF(2, 3);
/* The #define of a level, task, … : its symbol or a made one. */
const char *mc_name_symbol(struct mc *mc, const struct mc_provider *p, enum manifest_kind kind,
			   const struct manifest_name *n);

/* ---- messages ---- */

/* By ascending id; free() it. NULL: no memory. */
const struct mc_message **mc_messages_by_id(const struct mc *mc);
int mc_messages_build(struct mc *mc, struct diag *d);
/* The message of a name of a provider, winmeta's included; may be NULL. */
const char *mc_name_ref(const struct mc *mc, enum manifest_kind kind, const struct manifest_name *n);
/* The id of a message attribute; MC_NO_MESSAGE for NULL. */
uint32_t mc_message_id(const struct mc *mc, const char *ref);

/* ---- fields ---- */

/* More than one, always. */
bool mc_item_multiple(const struct manifest_item *it);
/* Type codes of a template. NULL: no memory. */
const char *mc_codes(struct mc *mc, const struct manifest_template *t);
/* ", a, b" — the arguments of a macro, by field name. */
void mc_arguments(const struct mc *mc, const struct manifest_template *t, struct strbuf *out);
/* Must the caller pack data? */
bool mc_needs_packing(const struct manifest_template *t);
void mc_template_function(const struct mc *mc, const char *codes, const struct manifest_template *t,
			  struct strbuf *out);

#endif
