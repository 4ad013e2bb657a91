/* SPDX-License-Identifier: MIT
 * CSV and JSON lines as dump prints them, XML in Windows' event schema; and the kinds that other verbs write: a smaller
 * trace, Parquet, Arrow.
 */
#include "tools/export/export.h"

#include "tools/common/event_xml.h"
#include "tools/common/printer.h"
#include "tools/export/ecs.h"

#include <stdlib.h>

struct text {
	struct cli_printer *printer;
	struct cli_xml xml;
	struct strbuf b;
};

static bool begin(struct export *x, enum cli_format format)
{
	const struct cli_print_options print = {.format = format, .stacks = x->o->stacks};
	struct text *t = x->own = calloc(1, sizeof *t);
	if (!t) {
		return export_fail(x, ENOMEM);
	}
	if (format == CLI_TEXT) { /* XML */
		static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<Events>\r\n";
		t->xml.utc = true;
		t->xml.decoder = openetw_decoder_create();
		return t->xml.decoder ? export_put(x, head, sizeof head - 1) : export_fail(x, ENOMEM);
	}
	t->printer = cli_printer_create(x->args, &print, NULL);
	if (!t->printer) {
		return export_fail(x, ENOMEM);
	}
	cli_printer_redirect(t->printer, x->f, x->state);
	return true;
}

static bool begin_csv(struct export *x)
{
	return begin(x, CLI_CSV);
}
static bool begin_json(struct export *x)
{
	return begin(x, CLI_JSON);
}
static bool begin_xml(struct export *x)
{
	return begin(x, CLI_TEXT);
}

static bool print(struct export *x, const struct export_event *e)
{
	struct text *t = x->own;
	errno = 0;
	if (!cli_printer_event(t->printer, e->record)) {
		return export_fail(x, errno ? errno : EIO);
	}
	x->written++;
	return true;
}

static bool print_json(struct export *x, const struct export_event *e)
{
	struct text *t = x->own;
	if (!x->o->ecs) {
		return print(x, e);
	}
	ecs_add_event(&t->b, e);
	x->written++;
	return export_flush(x, &t->b);
}

static bool print_xml(struct export *x, const struct export_event *e)
{
	struct text *t = x->own;
	cli_xml_event(&t->xml, e->record, &t->b);
	x->written++;
	return export_flush(x, &t->b);
}

static bool end(struct export *x)
{
	long at = fflush(x->f) == 0 ? ftell(x->f) : -1;
	x->bytes = at > 0 ? (uint64_t)at : x->bytes;
	return !ferror(x->f) || export_fail(x, EIO);
}

static bool end_xml(struct export *x)
{
	static const char tail[] = "</Events>\r\n";
	return export_put(x, tail, sizeof tail - 1) && end(x);
}

static void finish(struct export *x)
{
	struct text *t = x->own;
	if (t) {
		cli_printer_destroy(t->printer);
		openetw_decoder_destroy(t->xml.decoder);
		cli_xml_finish(&t->xml);
		strbuf_finish(&t->b);
		free(t);
	}
	x->own = NULL;
}

const struct export_kind export_csv = {
	.name = "csv",
	.what = "one line an event, the payload as JSON in the last column, as 'dump --format csv'",
	.suffix = ".csv",
	.cannot = "call stacks, activities",
	.begin = begin_csv,
	.event = print,
	.end = end,
	.finish = finish,
};
const struct export_kind export_json = {
	.name = "json",
	.what = "one object a line, as 'dump --json'; --ecs: with the names of the Elastic Common Schema",
	.suffix = ".jsonl",
	.needs = EXPORT_FIELDS,
	.begin = begin_json,
	.event = print_json,
	.end = end,
	.finish = finish,
};
const struct export_kind export_xml = {
	.name = "xml",
	.what = "a document in Windows' event schema",
	.suffix = ".xml",
	.cannot = "call stacks, names of processes that events do not carry",
	.begin = begin_xml,
	.event = print_xml,
	.end = end_xml,
	.finish = finish,
};
const struct export_kind export_parquet = {
	.name = "parquet",
	.what = "the rows of the table events of 'openetw sql', written by DuckDB",
	.suffix = ".parquet",
	.cannot = "fields of payloads, activities; stacks are numbers of the trace",
	.binary = true,
	.elsewhere = true,
};
const struct export_kind export_arrow = {
	.name = "arrow",
	.what = "the same rows, as an Arrow stream",
	.suffix = ".arrow",
	.cannot = "fields of payloads, activities; stacks are numbers of the trace",
	.binary = true,
	.elsewhere = true,
};
const struct export_kind export_etl = {
	.name = "etl",
	.what = "a smaller trace of the selection, as 'relog' writes it",
	.suffix = ".etl",
	.cannot = "call stacks that are records of their own, and names of processes and files, are kept where the "
		  "selection has those records",
	.binary = true,
	.elsewhere = true,
};
