/* SPDX-License-Identifier: MIT
 *
 * main for programs that begin at wmain: compile and link this file with them. With a C++ program
 * whose wmain is not extern "C" compile it as C++ (-x c++); -DETW_WMAIN_NO_ARGUMENTS is for a wmain
 * that takes none.
 */
#include <wchar.h>

#ifdef ETW_WMAIN_NO_ARGUMENTS
int wmain(void);
static int call(int argc, wchar_t **argv, wchar_t **env)
{
	(void)argc;
	(void)argv;
	(void)env;
	return wmain();
}
#else
int wmain(int argc, wchar_t **argv);
static int call(int argc, wchar_t **argv, wchar_t **env)
{
	(void)env;
	return wmain(argc, argv);
}
#endif

#ifdef __cplusplus
extern "C"
#endif
	int
	etw16_run_wmain(int (*start)(int, wchar_t **, wchar_t **), int argc, char **argv);

int main(int argc, char **argv)
{
	return etw16_run_wmain(call, argc, argv);
}
