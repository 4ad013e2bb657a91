/* SPDX-License-Identifier: MIT */
#include "tools/openetw/export_summary.h"

#include "tools/common/output.h"

static void as_json(const struct export *x, const struct export_counts *n, const struct cli_trace *loss)
{
	struct strbuf b = {0};
	strbuf_addf(&b, "{\"kind\":\"%s\",\"output\":", x->kind->name);
	strbuf_add_json(&b, x->o->output, strlen(x->o->output));
	strbuf_addf(&b, ",\"eventsInTrace\":%llu,\"eventsSelected\":%llu,\"eventsWritten\":%llu,\"bytes\":%llu,",
		    (unsigned long long)n->in_trace, (unsigned long long)n->selected, (unsigned long long)x->written,
		    (unsigned long long)x->bytes);
	if (n->decoded) {
		strbuf_addf(&b, "\"notFullyDecoded\":%llu,", (unsigned long long)n->undecoded);
	}
	cli_loss_json(&b, loss->lost_events, loss->lost_buffers, loss->unknown);
	strbuf_addc(&b, ',');
	export_add_misses(x, &b);
	strbuf_adds(&b, "}\n");
	fputs(b.failed ? "" : b.s, stderr);
	strbuf_finish(&b);
}

void export_summary(const struct export *x, const struct export_counts *n, const struct cli_trace *loss)
{
	char size[32];
	bool lost = loss->lost_events || loss->lost_buffers || loss->unknown[0];
	fflush(stdout);
	if (x->o->summary_json) {
		as_json(x, n, loss);
		return;
	}
	if (!x->o->quiet || lost || x->miss_count) {
		cli_size_text(x->bytes, size, sizeof size);
		fprintf(stderr, "%llu of %llu event%s to %s (%s, %s)", (unsigned long long)x->written,
			(unsigned long long)n->in_trace, PLURAL(n->in_trace), x->o->output, x->kind->name, size);
		if (n->decoded && n->undecoded) {
			fprintf(stderr, ", %llu not fully decoded", (unsigned long long)n->undecoded);
		}
		fputs("; ", stderr);
		cli_trace_print_loss(stderr, loss);
		fputs("\n", stderr);
	}
	export_print_misses(x, stderr);
}
