/* SPDX-License-Identifier: MIT */
#include "tools/common/printer.h"
#include "tools/common/fields.h"

#include "base/printable.h"
#include "tools/common/csv.h"

#include <stdlib.h>

bool fields_from_args(struct fields *f, const struct cli_args *a, const char *names)
{
	if (!names) {
		return true;
	}
	f->text = strdup(names);
	for (char *save, *s = f->text ? strtok_r(f->text, ",", &save) : NULL; s; s = strtok_r(NULL, ",", &save)) {
		while (*s == ' ') {
			s++;
		}
		if (f->count == FIELDS_MAX) {
			cli_usage(a, "at most %d --fields", FIELDS_MAX);
			return false;
		}
		f->field[f->count].payload = *s == '.';
		f->field[f->count++].name = s + (*s == '.');
	}
	if (f->count == 0) {
		cli_usage(a, "--fields takes names separated by commas");
		return false;
	}
	return true;
}

void fields_finish(struct fields *f)
{
	free(f->text);
}

void fields_add(struct fields *f, enum cli_format format, struct cli_view *view, struct strbuf *b)
{
	bool any = false;
	if (format == CLI_CSV && !f->head_done) {
		for (int i = 0; i < f->count; i++) {
			strbuf_adds(b, i ? "," : "");
			csv_add(b, f->field[i].name, strlen(f->field[i].name));
		}
		strbuf_addc(b, '\n');
		f->head_done = true;
	}
	strbuf_adds(b, format == CLI_JSON ? "{" : "");
	for (int i = 0; i < f->count; i++) {
		struct cli_view_value v = {0};
		bool found = cli_view_get(view, f->field[i].name, f->field[i].payload, &v);
		f->field[i].seen = f->field[i].seen || found;
		if (format == CLI_CSV) {
			strbuf_adds(b, i ? "," : "");
			csv_add(b, v.text, v.text_length);
		} else if (found) {
			if (format == CLI_JSON) {
				strbuf_adds(b, any ? "," : "");
				strbuf_add_json(b, f->field[i].name, strlen(f->field[i].name));
				strbuf_addc(b, ':');
				strbuf_add(b, v.json, v.json_length);
			} else {
				strbuf_adds(b, any ? " " : "");
				/* where and when are recognised by themselves */
				if (!cli_view_is_property(f->field[i].name) || f->field[i].payload) {
					strbuf_addf_printable(b, "%s=", f->field[i].name);
				}
				strbuf_add_printable(b, v.text, v.text_length);
			}
			any = true;
		}
	}
	strbuf_adds(b, format == CLI_JSON ? "}\n" : "\n");
}

bool fields_asked(const struct fields *f, unsigned i, struct cli_asked *ret)
{
	if (i >= (unsigned)f->count) {
		return false;
	}
	*ret = (struct cli_asked){CLI_ASKED_FIELD, f->field[i].name, 0, f->field[i].payload, f->field[i].seen};
	return true;
}
