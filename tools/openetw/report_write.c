/* SPDX-License-Identifier: MIT
 * report: stacks for other programs.
 */
#include "tools/openetw/report.h"

#include "tools/common/output.h"

#include <stdlib.h>

bool report_write_folded(const struct cli_args *a, const struct tally *stacks, const char *path)
{
	struct cli_output *o = cli_output_open(a, path, true);
	FILE *f = cli_output_file(o);
	for (size_t i = 0; f && i < stacks->used; i++) {
		fprintf(f, "%s %llu\n", stacks->row[i].name, (unsigned long long)stacks->row[i].v[0]);
	}
	return o && cli_output_close(o, true) == CLI_OK;
}

/* The file format of speedscope: frames once, then stacks as lists of their numbers. */
bool report_write_speedscope(const struct cli_args *a, const struct tally *stacks, const char *path, const char *name,
			     const char *unit)
{
	struct tally frames = {0};
	struct strbuf names = {0}, samples = {0}, weights = {0};
	uint64_t total = 0;
	bool ok = true;
	for (size_t i = 0; i < stacks->used && ok; i++) {
		const struct tally_row *s = &stacks->row[i];
		char *copy = strdup(s->name), *rest = copy;
		strbuf_addf(&samples, "%s[", samples.len ? "," : "");
		for (char *part, *first = copy; copy && (part = strsep(&rest, ";")) != NULL;) {
			struct tally_row *c = tally_row(&frames, part);
			ok = ok && c;
			if (c && !c->v[0]) { /* new: its number is the order of appearance */
				c->v[0] = frames.used;
				strbuf_addf(&names, "%s{\"name\":", names.len ? "," : "");
				strbuf_add_json(&names, part, strlen(part));
				strbuf_addf(&names, "}");
			}
			if (c) {
				strbuf_addf(&samples, "%s%llu", part == first ? "" : ",",
					    (unsigned long long)c->v[0] - 1);
			}
		}
		strbuf_addf(&samples, "]");
		strbuf_addf(&weights, "%s%llu", weights.len ? "," : "", (unsigned long long)s->v[0]);
		total += s->v[0];
		ok = ok && copy;
		free(copy);
	}
	struct cli_output *o = ok ? cli_output_open(a, path, true) : NULL;
	FILE *f = cli_output_file(o);
	if (f) {
		fprintf(f,
			"{\"$schema\":\"https://www.speedscope.app/"
			"file-format-schema.json\",\"shared\":{\"frames\":[%s]},"
			"\"profiles\":[{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"startValue\":0,"
			"\"endValue\":%llu,\"samples\":[%s],\"weights\":[%s]}]}\n",
			names.s ? names.s : "", name, unit, (unsigned long long)total, samples.s ? samples.s : "",
			weights.s ? weights.s : "");
		ok = cli_output_close(o, true) == CLI_OK;
	}
	strbuf_finish(&names);
	strbuf_finish(&samples);
	strbuf_finish(&weights);
	tally_free(&frames);
	return ok && f;
}
