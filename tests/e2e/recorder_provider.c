/* SPDX-License-Identifier: MIT
 * Records a provider with keywords, by openetw/recorder.h, while a program runs: FILE PROVIDER KEYWORDS PROGRAM.
 */
#include <openetw/recorder.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct openetw_recorder *r = argc == 5 ? openetw_recorder_create("recorder-provider") : NULL;
	if (!r) {
		return 2;
	}
	openetw_recorder_set_file(r, argv[1], 0, OPENETW_RECORDER_SEQUENTIAL);
	openetw_recorder_add_provider(r, argv[2], 0, strtoull(argv[3], NULL, 0), 0, 0);
	int status = openetw_recorder_start(r) ? -1 : system(argv[4]);
	if (status) {
		fprintf(stderr, "%s\n", openetw_recorder_problem(r));
	}
	openetw_recorder_stop(r);
	openetw_recorder_destroy(r);
	return status != 0;
}
