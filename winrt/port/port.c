/* SPDX-License-Identifier: MIT
 *
 * The command line of openetw-port.
 */
#include "port.h"

#include <string.h>

static int usage(void)
{
	fputs("openetw-port includes -o FOLDER [-L] [-I FOLDER]... [-S FOLDER]... FILE...\n"
	      "    Headers for each #include of the files that is spelled as Windows takes it\n"
	      "    (backslashes, any case). Prints the folder for the compiler's -I; nothing when "
	      "none\n"
	      "    is needed. Headers in a folder after -S are found, but not looked into.\n"
	      "    -L: \"@layout\" comes first when the files need that command, and \"@library NAME "
	      "FILE:LINE\"\n"
	      "    for each #pragma comment(lib, …), \"@absent FOLDER\" for -idirafter with headers that "
	      "say\n"
	      "    that they are not here.\n"
	      "openetw-port llp64 [FOLDER]... <PREPROCESSED >RESULT\n"
	      "    Makes long 32 bits wide, except in system headers and in the folders.\n"
	      "openetw-port layout [--gcc] [FOLDER]... <PREPROCESSED >RESULT\n"
	      "    Lays bit-fields out as Microsoft's compiler does, except there; for gcc also\n"
	      "    __declspec(align) in front of \"struct\" and #pragma pack with macros (of -dD).\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "llp64") == 0) {
		return port_llp64(argv + 2, argc - 2);
	}
	if (argc >= 2 && strcmp(argv[1], "layout") == 0) {
		bool gcc = argc >= 3 && strcmp(argv[2], "--gcc") == 0;
		return port_layout(gcc, argv + 2 + gcc, argc - 2 - gcc);
	}
	if (argc < 4 || strcmp(argv[1], "includes") != 0 || strcmp(argv[2], "-o") != 0) {
		return usage();
	}
	const char *out = argv[3];
	int at = 4, folders = 0, scanned = 0;
	bool say_more = at < argc && strcmp(argv[at], "-L") == 0;
	at += say_more;
	/* The folders are moved together, to the front. */
	while (at < argc && (strncmp(argv[at], "-I", 2) == 0 || strncmp(argv[at], "-S", 2) == 0)) {
		bool scan = argv[at][1] == 'I';
		char *folder = argv[at] + 2;
		at++;
		if (!*folder) {
			if (at == argc) {
				return usage();
			}
			folder = argv[at++];
		}
		argv[folders++] = folder;
		scanned = scan ? folders : scanned;
	}
	return port_includes(out, say_more, argv, scanned, folders, argv + at, argc - at);
}
