/* SPDX-License-Identifier: MIT
 *
 * Events as text, JSON or CSV on stdout, as dump and live print them.
 */
#ifndef TOOLS_COMMON_PRINTER_H
#define TOOLS_COMMON_PRINTER_H

#include "tools/common/select.h"

enum cli_format {
	CLI_TEXT,
	CLI_JSON,
	CLI_CSV,
};
struct cli_print_options {
	enum cli_format format;
	bool json, stacks, utc, local, headers;
	const char *fields;
	uint64_t limit; /* 0: none */
};
#define CLI_PRINT_OPTIONS(T, m)                                                                                        \
	CLI_CHOICE(T, m.format, CLI_TEXT, 0, "format", "FORMAT", "text|json|csv",                                      \
		   "text (default), json (one object a line) or csv"),                                                 \
		CLI_FLAG(T, m.json, 'j', "json", "the same as --format json"),                                         \
		CLI_WORD(T, m.fields, 0, "fields", "NAMES", "only these, in this order: time,pid,Name,Struct.Member"), \
		CLI_FLAG(T, m.stacks, 0, "stacks", "show call stacks"),                                                \
		CLI_FLAG(T, m.utc, 0, "utc", "times in UTC (the default)"),                                            \
		CLI_FLAG(T, m.local, 0, "local", "times of this machine's zone"),                                      \
		CLI_NUMBER(T, m.limit, 'n', "limit", "N", 1, UINT64_MAX, "stop after N events")
/* Prints events to stdout; used by dump and live. `select` is borrowed, may be NULL. */
struct cli_printer;
struct cli_printer *cli_printer_create(const struct cli_args *a, const struct cli_print_options *o,
				       struct cli_select *select);
/* What the printer asks for names, ids, files and stacks; attach it to the traces. NULL: no memory. */
struct openetw_state;
struct openetw_state *cli_printer_state(struct cli_printer *p);
/* Before the first event: prints into this file instead, and asks this state. Both are borrowed. */
void cli_printer_redirect(struct cli_printer *p, FILE *f, struct openetw_state *state);
/* False when --limit is reached or stdout takes no more (then cli_output_errno says why). */
bool cli_printer_event(struct cli_printer *p, const EVENT_RECORD *e);
extern int cli_output_errno;
uint64_t cli_printer_count(const struct cli_printer *p);
/* Records of the file itself (cli_is_header), which --headers prints, or --event with their names. */
uint64_t cli_printer_headers(const struct cli_printer *p);
/* Events whose payload could not be decoded for want of a schema, or only in part. */
uint64_t cli_printer_undecoded(const struct cli_printer *p);
/* One line for each provider of such events: how many, why, what to supply. */
void cli_printer_explain(const struct cli_printer *p, FILE *f);
void cli_printer_destroy(struct cli_printer *p);
/* The i-th of --fields. */
bool cli_printer_asked(const struct cli_printer *p, unsigned i, struct cli_asked *ret);

#endif
