/* SPDX-License-Identifier: MIT
 *
 * A DLL of one file: with -DDLL the shared object, without it the program that loads it.
 */
#include <windows.h>

#include <stdio.h>

#ifdef DLL
static int attached;

BOOL APIENTRY DllMain(HMODULE module, DWORD reason, LPVOID reserved)
{
	(void)reserved;
	if (reason == DLL_PROCESS_ATTACH) {
		attached = module != NULL;
	} else if (reason == DLL_PROCESS_DETACH) {
		puts("gone");
	}
	return TRUE;
}

EXTERN_C int is_attached(void)
{
	return attached;
}
#else
int main(void)
{
	HMODULE dll = LoadLibraryA("./loaded.so");
	int (*is_attached)(void) = dll ? (int (*)(void))GetProcAddress(dll, "is_attached") : NULL;

	if (!is_attached || !is_attached()) {
		return 1;
	}
	FreeLibrary(dll);
	return 0;
}
#endif
