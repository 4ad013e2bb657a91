/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_CRTDBG_H
#define ETW_WIN_CRTDBG_H
#include <assert.h>
#define _ASSERT(e)  assert(e)
#define _ASSERTE(e) assert(e)
/* Reports go to stderr. There is no heap to be examined: valgrind and -fsanitize=address do that. */
#define _CRT_WARN                 0
#define _CRT_ERROR                1
#define _CRT_ASSERT               2
#define _CRT_ERRCNT               3
#define _CRTDBG_MODE_FILE         0x1
#define _CRTDBG_MODE_DEBUG        0x2
#define _CRTDBG_MODE_WNDW         0x4
#define _CRTDBG_REPORT_MODE       (-1)
#define _CRTDBG_INVALID_HFILE     ((_HFILE)-1)
#define _CRTDBG_HFILE_ERROR       ((_HFILE)-2)
#define _CRTDBG_FILE_STDOUT       ((_HFILE)-4)
#define _CRTDBG_FILE_STDERR       ((_HFILE)-5)
#define _CRTDBG_REPORT_FILE       ((_HFILE)-6)
#define _CRTDBG_ALLOC_MEM_DF      0x01
#define _CRTDBG_DELAY_FREE_MEM_DF 0x02
#define _CRTDBG_CHECK_ALWAYS_DF   0x04
#define _CRTDBG_CHECK_CRT_DF      0x10
#define _CRTDBG_LEAK_CHECK_DF     0x20
#define _CRTDBG_REPORT_FLAG       (-1)
typedef void *_HFILE;
static __inline__ __attribute__((unused)) int _CrtSetReportMode(int type, int mode)
{
	(void)type;
	(void)mode;
	return 0;
}
static __inline__ __attribute__((unused)) _HFILE _CrtSetReportFile(int type, _HFILE file)
{
	(void)type;
	(void)file;
	return 0;
}
static __inline__ __attribute__((unused)) int _CrtSetDbgFlag(int flag)
{
	(void)flag;
	return 0;
}
#define _CrtDumpMemoryLeaks() (0)
#define _CrtCheckMemory()     (1)
#endif
