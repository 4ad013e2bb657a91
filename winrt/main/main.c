/* SPDX-License-Identifier: MIT
 *
 * main for programs that begin at wmain. It is a static library of its own (libetw-wmain.a): the
 * linker takes it only when the program has no main. Which wmain the program wrote shows in the
 * name the compiler gave it: plain in C, with its parameters encoded in C++ (wchar_t is 'w').
 */
#include <stdint.h>
#include <stdio.h>

typedef int (*main_fn)(int, uint16_t **, uint16_t **);

extern int etw16_run_wmain(main_fn start, int argc, char **argv);

#define SPELLED(variable, symbol) \
	extern int variable(int, uint16_t **, uint16_t **) __asm__(symbol) __attribute__((weak));
SPELLED(wmain_in_c, "wmain")
SPELLED(wmain_none, "_Z5wmainv")
SPELLED(wmain_argv, "_Z5wmainiPPw")
SPELLED(wmain_const_argv, "_Z5wmainiPPKw")
SPELLED(wmain_const_vector, "_Z5wmainiPKPw")
SPELLED(wmain_const_both, "_Z5wmainiPKPKw")
SPELLED(wmain_envp, "_Z5wmainiPPwS0_")
SPELLED(wmain_const_envp, "_Z5wmainiPPKwS1_")

/* "void main()" as openetw-c++ renames it. Its value means nothing. */
extern void void_main(int, char **) __asm__("_Z13etw_void_mainv") __attribute__((weak));
extern void void_main_argv(int, char **) __asm__("_Z13etw_void_mainiPPc") __attribute__((weak));

int main(int argc, char **argv)
{
	if (void_main || void_main_argv) {
		(void_main ? void_main : void_main_argv)(argc, argv);
		return 0;
	}
	main_fn candidates[] = {wmain_in_c,         wmain_none,       wmain_argv, wmain_const_argv,
				wmain_const_vector, wmain_const_both, wmain_envp, wmain_const_envp};

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		if (candidates[i]) {
			return etw16_run_wmain(candidates[i], argc, argv);
		}
	}
	/* The linker cannot say this: an optional wmain is no undefined symbol. */
	fprintf(stderr, "this program was linked without a main or wmain\n");
	return 127;
}
