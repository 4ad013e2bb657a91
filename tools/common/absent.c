/* SPDX-License-Identifier: MIT */
#include "tools/common/printer.h"
#include "tools/common/absent.h"

#include "base/map.h"
#include "base/parse.h"
#include "tools/common/trace_reading.h"
#include "tools/common/event_view.h"

#include <stdlib.h>

#define ASKED_MAX 512u
#define NAMES_MAX 4096u /* of a kind; more are not compared */
#define FEW       6u    /* names that are listed where none comes near */
#define KINDS     (CLI_ASKED_FIELD + 1)

struct names {
	char *name[NAMES_MAX]; /* sorted by when they came; NULL behind the last */
	uint32_t count;
	struct map places; /* by name */
};
struct absent {
	const struct cli_args *args;
	struct cli_asked asked[ASKED_MAX];
	unsigned count, left; /* left: not seen yet */
	unsigned of_select;   /* the first so many are the selection's, the others are --fields */
	uint64_t unshown;     /* bits of the others that no event shown had */
	bool names_wanted[KINDS];
	struct names *names[KINDS];
	struct openetw_decoder *decoder;
	struct cli_view *view;
	uint64_t events, first, last;
	unsigned severest;
};

/* ---- names that occur --------------------------------------------------------------------------- */

static void add_name(struct names *n, const char *s, size_t bytes)
{
	if (!n || bytes == 0 || n->count + 1 >= NAMES_MAX) {
		return;
	}
	uint64_t key = map_hash(&n->places, s, bytes);
	MAP_EACH(&n->places, key, at) {
		const char *have = n->name[map_value(&n->places, at)];
		if (strlen(have) == bytes && memcmp(have, s, bytes) == 0) {
			return;
		}
	}
	char *copy = strndup(s, bytes);
	if (!copy || map_add(&n->places, key, n->count) < 0) {
		free(copy);
		return;
	}
	n->name[n->count++] = copy;
}

static bool add_field(void *ctx, const struct openetw_field *f)
{
	add_name(ctx, f->name, f->name_length);
	return true;
}

static void collect(struct absent *x, const EVENT_RECORD *e)
{
	const struct openetw_event_origin *o;
	const char *provider, *event;
	openetw_event_names(x->decoder, e, &provider, &event);
	add_name(x->names[CLI_ASKED_PROVIDER], provider, strlen(provider));
	add_name(x->names[CLI_ASKED_EVENT], event, strlen(event));
	if (x->names[CLI_ASKED_PROCESS]) {
		o = cli_view_origin(x->view);
		add_name(x->names[CLI_ASKED_PROCESS], o->process, o->process ? strlen(o->process) : 0);
		add_name(x->names[CLI_ASKED_PROCESS], o->subject, o->subject ? strlen(o->subject) : 0);
	}
	if (x->names[CLI_ASKED_FIELD]) {
		openetw_decode_fields(x->decoder, e, add_field, x->names[CLI_ASKED_FIELD]);
	}
}

/* Of "Process/Start" also "Start" is a name. */
static const char *next_name(const void *ctx, int i)
{
	const struct names *n = ctx;
	if ((uint32_t)i / 2 >= n->count) {
		return NULL;
	}
	const char *name = n->name[i / 2], *slash = strrchr(name, '/');
	return i % 2 && slash ? slash + 1 : name;
}

static const char *next_property(const void *ctx, int i)
{
	return filter_properties[i];
}

/* ---- the second reading ------------------------------------------------------------------------ */

static bool event(void *ctx, const EVENT_RECORD *e)
{
	struct absent *x = ctx;
	uint64_t time = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	bool header = cli_is_header(e); /* no event, and has no name but its own */
	x->events += !header;
	if (!header) {
		x->first = x->first ? BASE_MIN(x->first, time) : time;
		x->last = BASE_MAX(x->last, time);
	}
	if (e->EventHeader.EventDescriptor.Level && !header) {
		x->severest = BASE_MIN(x->severest, (unsigned)e->EventHeader.EventDescriptor.Level);
	}
	cli_view_set(x->view, e);
	for (unsigned i = 0; i < x->count; i++) {
		if (!x->asked[i].seen && (!header || x->asked[i].kind == CLI_ASKED_EVENT) &&
		    cli_select_has(&x->asked[i], x->view, e)) {
			x->asked[i].seen = true;
			x->left--;
		}
	}
	if (!header) {
		collect(x, e);
	}
	return x->left > 0;
}

static void read_again(struct absent *x, int count, char **files)
{
	struct openetw_state *state = openetw_state_create(0);
	struct cli_trace *t = calloc(1, sizeof *t);
	x->decoder = openetw_decoder_create();
	x->view = x->decoder ? cli_view_create(x->decoder, false) : NULL;
	if (t && state && x->view) {
		*t = (struct cli_trace){.args = x->args, .event = event, .ctx = x, .state = state, .quiet = true};
		cli_view_set_state(x->view, state);
		if (cli_trace_open(t, count, files, NULL)) {
			cli_trace_run(t);
		}
	}
	free(t);
	cli_view_destroy(x->view);
	openetw_decoder_destroy(x->decoder);
	cli_state_end(state);
}

/* ---- saying it --------------------------------------------------------------------------------- */

static void say_column(const struct cli_asked *k)
{
	if (k->column) {
		fprintf(stderr, " (--filter, column %u)", k->column);
	}
	fputc('\n', stderr);
}

static void say_names(const struct absent *x, const struct cli_asked *k)
{
	const struct names *n = x->names[k->kind];
	const char *near = n ? cli_nearest(k->text, next_name, n) : NULL;
	if (near) {
		fprintf(stderr, "; did you mean '%s'?", near);
	} else if (n && n->count > 0 && n->count <= FEW) {
		fprintf(stderr, "; there %s", n->count == 1 ? "is" : "are");
		for (uint32_t i = 0; i < n->count; i++) {
			fprintf(stderr, "%s%s", i ? ", " : " ", n->name[i]);
		}
	}
	say_column(k);
}

static void say(const struct absent *x, const struct cli_asked *k, bool elsewhere)
{
	static const char *const texts[KINDS] = {
		[CLI_ASKED_PROVIDER] = "no event of a provider", [CLI_ASKED_EVENT] = "no event that is called",
		[CLI_ASKED_PROCESS] = "no event of a process",   [CLI_ASKED_PID] = "no event of process",
		[CLI_ASKED_TID] = "no event of thread",          [CLI_ASKED_FIELD] = "no event with a field"};
	if (elsewhere) {
		fprintf(stderr, "openetw %s: no event that is shown has a field '%s', others have\n",
			x->args->command->name, k->text);
		return;
	}
	bool maybe_property = k->kind == CLI_ASKED_FIELD && !k->payload;
	const char *near = maybe_property ? cli_nearest(k->text, next_property, NULL) : NULL;
	if (maybe_property && cli_view_is_property(k->text)) {
		fprintf(stderr, "openetw %s: there is no event that has '%s'", x->args->command->name, k->text);
		say_column(k);
		return;
	}
	if (near) {
		fprintf(stderr, "openetw %s: no property '%s'; did you mean '%s'?", x->args->command->name, k->text,
			near);
		say_column(k);
		return;
	}
	fprintf(stderr, "openetw %s: there is %s ", x->args->command->name, texts[k->kind]);
	if (k->text) {
		fprintf(stderr, "'%s'", k->text);
		say_names(x, k);
	} else {
		fprintf(stderr, "%llu\n", (unsigned long long)k->number);
	}
}

/* Everything occurs, but not together, or not then. */
static void say_nothing_fits(const struct absent *x, const struct cli_select *select)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];
	fprintf(stderr, "openetw %s: no event fits all that is asked for\n", x->args->command->name);
	if (x->events && cli_select_bounds(select)) {
		format_time(x->first, false, from);
		format_time(x->last, false, to);
		fprintf(stderr, "  those that are there: from %s to %s", from, to);
		if (x->severest != UINT32_MAX) {
			fprintf(stderr, ", level %u and less severe", x->severest);
		}
		fputc('\n', stderr);
	}
}

/* `live`: nobody can look again, so of what no event was asked for nothing is known. */
static bool gather(struct absent *x, struct cli_select *select, const struct cli_printer *printer, bool live)
{
	struct cli_asked k;
	for (unsigned i = 0; x->count < ASKED_MAX && select && cli_select_asked(select, i, &k); i++) {
		k.seen |= live && k.column && !k.looked;
		x->asked[x->count++] = k;
	}
	x->of_select = x->count;
	for (unsigned i = 0; x->count < ASKED_MAX && i < 64 && printer && cli_printer_asked(printer, i, &k); i++) {
		x->asked[x->count++] = k;
		x->unshown |= k.seen ? 0 : 1ull << i;
	}
	for (unsigned i = 0; i < x->count; i++) {
		x->left += !x->asked[i].seen;
		x->names_wanted[x->asked[i].kind] |= !x->asked[i].seen;
	}
	return x->left > 0;
}

/* Of --fields none was there. */
static bool no_field(const struct cli_printer *printer)
{
	struct cli_asked k;
	unsigned i = 0;
	for (; printer && cli_printer_asked(printer, i, &k); i++) {
		if (k.seen) {
			return false;
		}
	}
	return i > 0;
}

static int tell(struct absent *x, struct cli_select *select, const struct cli_printer *printer, uint64_t matched,
		int status)
{
	unsigned said = 0;
	fflush(stdout);
	for (unsigned i = 0; i < x->count; i++) {
		bool unshown = i >= x->of_select && matched > 0 && x->unshown >> (i - x->of_select) & 1;
		if (!x->asked[i].seen || unshown) {
			say(x, &x->asked[i], x->asked[i].seen);
			said++;
		}
	}
	if (matched == 0 && said == 0) {
		say_nothing_fits(x, select);
	}
	return status == CLI_OK && (matched == 0 || no_field(printer)) ? CLI_FAILED : status;
}

static int finish(struct absent *x, int status)
{
	for (int i = 0; i < KINDS; i++) {
		for (uint32_t k = 0; x->names[i] && k < x->names[i]->count; k++) {
			free(x->names[i]->name[k]);
		}
		if (x->names[i]) {
			map_free(&x->names[i]->places);
		}
		free(x->names[i]);
	}
	free(x);
	return status;
}

int cli_absent_files(const struct cli_args *a, struct cli_select *select, const struct cli_printer *printer, int count,
		     char **files, uint64_t matched, int status)
{
	struct absent *x = calloc(1, sizeof *x);
	if (!x) {
		return status;
	}
	x->args = a;
	x->severest = UINT32_MAX;
	bool some = gather(x, select, printer, false);
	bool asked = x->count > 0 || (select && cli_select_bounds(select));
	if (cli_interrupted() || ferror(stdout) || !asked || (!some && matched > 0)) {
		return finish(x, status);
	}
	for (int i = 0; i < KINDS; i++) {
		x->names[i] = x->names_wanted[i] ? calloc(1, sizeof *x->names[i]) : NULL;
	}
	if (x->left == 0) {
		x->left = 1; /* nothing to find: read to the end for what there is */
	}
	read_again(x, count, files);
	if (x->events == 0) { /* whatever is asked for */
		fprintf(stderr, "openetw %s: there are no events\n", a->command->name);
		return finish(x, status);
	}
	return finish(x, cli_interrupted() ? status : tell(x, select, printer, matched, status));
}

int cli_absent_live(const struct cli_args *a, struct cli_select *select, const struct cli_printer *printer,
		    uint64_t matched, int status)
{
	struct absent *x = calloc(1, sizeof *x);
	if (!x) {
		return status;
	}
	x->args = a;
	x->severest = UINT32_MAX;
	if (!ferror(stdout) && gather(x, select, printer, true)) {
		status = tell(x, select, printer, matched ? matched : 1, status);
	}
	return finish(x, status);
}
