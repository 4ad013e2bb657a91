/* SPDX-License-Identifier: MIT
 *
 * Mistakes that must not compile. run.sh builds this once for each CASE and looks for the text
 * behind it in the compiler's message. CASE 0 compiles.
 */
#include "evntprov.h"
#ifdef __cplusplus
#include "TraceLoggingActivity.h"
#else
#include "TraceLoggingProvider.h"
#endif

TRACELOGGING_DEFINE_PROVIDER(P, "Tests.Refuse", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));

void refuse(int x);
void refuse(int x)
{
#if CASE == 0
	TraceLoggingWrite(P, "e", TraceLoggingInt32(x));
#elif CASE == 1 /* needs -fno-short-wchar: wide strings are UTF-16 */
	TraceLoggingWrite(P, "e", TraceLoggingWideString(L"text"));
#elif CASE == 2 /* 1 to 65535 values */
	TraceLoggingWrite(P, "e", TraceLoggingInt32FixedArray(&x, 0));
#elif CASE == 3 /* 1 to 127 members */
	TraceLoggingWrite(P, "e", TraceLoggingStruct(128, "s"), TraceLoggingInt32(x));
#elif CASE == 4 /* too many fields */
#define B8(p)                                                                                                   \
	TraceLoggingBinary(p, 1), TraceLoggingBinary(p, 1), TraceLoggingBinary(p, 1), TraceLoggingBinary(p, 1), \
		TraceLoggingBinary(p, 1), TraceLoggingBinary(p, 1), TraceLoggingBinary(p, 1), TraceLoggingBinary(p, 1)
	TraceLoggingWrite(P, "e", B8(&x), B8(&x), B8(&x), B8(&x), B8(&x), B8(&x), B8(&x), B8(&x));
#elif CASE == 5 && defined(__cplusplus) /* no field type for a value of this type */
	struct other {
		int i;
	} o = {x};
	TraceLoggingWrite(P, "e", TraceLoggingValue(o));
#elif CASE == 6 && defined(__cplusplus) /* does not go into start and stop events */
	TraceLoggingActivity<P> a;
	TraceLoggingWriteStart(a, "a", TraceLoggingKeyword(1));
#elif CASE == 7 && defined(__cplusplus) /* does not go into start and stop events */
	TraceLoggingActivity<P> a;
	TraceLoggingWriteStop(a, "a", TraceLoggingLevel(1));
#elif CASE == 8 && defined(__cplusplus) /* needs -fno-short-wchar: wide strings are UTF-16 */
	TraceLoggingWrite(P, "e", TraceLoggingWChar(L'x'));
#endif
}
