/* SPDX-License-Identifier: MIT
 * What the sources of this sample trace with: their control GUID and two trace functions.
 */
#ifndef SAMPLE_WPP_TRACE_H
#define SAMPLE_WPP_TRACE_H

#include <windows.h>

#include <evntrace.h>

#define WPP_CONTROL_GUIDS                                                                          \
	WPP_DEFINE_CONTROL_GUID(SampleWpp, (5b1f0c3e, 88d2, 4f6b, 9c0a, 1e7d2b3a4c5d),               \
				WPP_DEFINE_BIT(FLAG_SHOP) WPP_DEFINE_BIT(FLAG_STOCK))

#define WPP_LEVEL_FLAGS_LOGGER(level, flags) WPP_LEVEL_LOGGER(flags)
#define WPP_LEVEL_FLAGS_ENABLED(level, flags)                                                      \
	(WPP_LEVEL_ENABLED(flags) && WPP_CONTROL(WPP_BIT_##flags).Level >= level)

// begin_wpp config
// FUNC Trace(LEVEL, FLAGS, MSG, ...);
// FUNC TraceEnter{LEVEL=TRACE_LEVEL_VERBOSE}(FLAGS);
// USESUFFIX(TraceEnter, "--> %!FUNC!");
// FUNC TraceFailure{LEVEL=TRACE_LEVEL_ERROR}(FLAGS, STATUS, MSG, ...);
// USESUFFIX(TraceFailure, " failed: %!STATUS!", STATUS);
// CUSTOM_TYPE(Fruit, ItemListLong(apple,pear,plum));
// end_wpp

/* A condition that is also a test: only failures are written. */
#define WPP_LEVEL_FLAGS_STATUS_LOGGER(level, flags, status) WPP_LEVEL_LOGGER(flags)
#define WPP_LEVEL_FLAGS_STATUS_ENABLED(level, flags, status)                                       \
	((status) < 0 && WPP_LEVEL_FLAGS_ENABLED(level, flags))

int shop_sell(const char *customer, int fruit, int count);

#endif
