/* SPDX-License-Identifier: MIT
 *
 * Prints the events of trace files, or of a running session, one line each:
 *
 *   reader FILE.etl…           merged by time
 *   reader --session NAME      live, until the session ends
 */
#include <openetw/reader.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: reader FILE.etl... | --session NAME\n");
		return 2;
	}
	struct openetw_reader *r = openetw_reader_create();
	if (!r) {
		return 1;
	}
	if (argc == 3 && strcmp(argv[1], "--session") == 0) {
		openetw_reader_set_session(r, argv[2]);
	} else {
		for (int i = 1; i < argc; i++) {
			openetw_reader_add_file(r, argv[i]);
		}
	}
	openetw_reader_set_content(r, OPENETW_READER_JSON);
	openetw_reader_attach(r, OPENETW_READER_ORIGIN);
	int failed = openetw_reader_start(r) != 0;
	if (!failed) {
		OPENETW_SIZED(struct openetw_batch, batch);
		while (openetw_reader_next(r, OPENETW_READER_FOREVER, &batch) == 0) {
			for (uint32_t i = 0; i < batch.count; i++) {
				const struct openetw_event *e = openetw_batch_event(&batch, i);
				printf("%s(%" PRIu32 ") %s/%s %s\n", e->process ? e->process : "?", e->pid, e->provider,
				       e->name, e->json);
			}
			fflush(stdout); /* a live session may have nothing more for a while */
		}
		/* The sentence is there when the reading ended before its end. */
		failed = openetw_reader_problem(r)[0] != 0;
	}
	if (failed) {
		fprintf(stderr, "reader: %s\n", openetw_reader_problem(r));
	}
	if (openetw_reader_lost(r)) {
		fprintf(stderr, "reader: %" PRIu64 " events were lost when they were recorded\n",
			openetw_reader_lost(r));
	}
	openetw_reader_destroy(r);
	return failed;
}
