/* SPDX-License-Identifier: MIT */
#ifndef ETW_WIN_CRTDBG_H
#define ETW_WIN_CRTDBG_H
#include <assert.h>
#define _ASSERT(e)		      assert(e)
#define _ASSERTE(e)		      assert(e)
#define _CrtSetReportMode(type, mode) (0)
#define _CrtSetDbgFlag(flag)	      (0)
#define _CrtDumpMemoryLeaks()	      (0)
#endif
