/* SPDX-License-Identifier: MIT
 *
 * One recording of what programs say and what the machine does meanwhile, in one file and on one time line:
 *
 *   recorder FILE.etl PROVIDER[:LEVEL] [KERNEL-FLAGS [STACKS]]
 *   recorder all.etl MyCompany.Web:4 PROC_THREAD+LOADER+PROFILE+CSWITCH Profile+CSwitch
 *   recorder kernel.etl - DiagEasy            the machine alone, in the session "NT Kernel Logger"
 *
 * Kernel events take root, or the rights of openetw-kernel. Ends with Return or the end of input.
 */
#include <openetw/recorder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: recorder FILE.etl PROVIDER[:LEVEL]|- [KERNEL-FLAGS [STACKS]]\n");
		return 2;
	}
	int programs = strcmp(argv[2], "-") != 0;
	struct openetw_recorder *r = openetw_recorder_create(programs ? "recorder-sample" : "NT Kernel Logger");
	if (!r) {
		return 1;
	}
	openetw_recorder_set_file(r, argv[1], 0, OPENETW_RECORDER_SEQUENTIAL);
	/* A recording that somebody forgot gives way to this one. */
	openetw_recorder_set_replace(r, 1);
	if (programs) {
		char *level = strrchr(argv[2], ':');
		if (level) {
			*level++ = 0;
		}
		openetw_recorder_add_provider(r, argv[2], level ? (unsigned)atoi(level) : 0, 0, 0, 0);
	}
	if (argc > 3) {
		openetw_recorder_add_kernel(r, argv[3]);
	}
	if (argc > 4) {
		openetw_recorder_add_kernel_stacks(r, argv[4]);
	}
	if (openetw_recorder_start(r) != 0) {
		fprintf(stderr, "recorder: %s\n", openetw_recorder_problem(r));
		openetw_recorder_destroy(r);
		return 1;
	}
	if (openetw_recorder_note(r)[0]) {
		fprintf(stderr, "recorder: %s\n", openetw_recorder_note(r));
	}
	printf("recording to %s; Return ends it\n", argv[1]);
	fflush(stdout);
	for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
	}
	unsigned code = openetw_recorder_stop(r);
	openetw_recorder_destroy(r);
	return code != 0;
}
