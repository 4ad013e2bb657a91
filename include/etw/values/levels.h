/* SPDX-License-Identifier: MIT
 *
 * Levels of events. winmeta.h has WINEVENT_LEVEL_* for manifests.
 */
#ifndef ETW_VALUES_LEVELS_H
#define ETW_VALUES_LEVELS_H

#define TRACE_LEVEL_NONE        0
#define TRACE_LEVEL_CRITICAL    1
#define TRACE_LEVEL_FATAL       1
#define TRACE_LEVEL_ERROR       2
#define TRACE_LEVEL_WARNING     3
#define TRACE_LEVEL_INFORMATION 4
#define TRACE_LEVEL_VERBOSE     5
#define TRACE_LEVEL_RESERVED6   6
#define TRACE_LEVEL_RESERVED7   7
#define TRACE_LEVEL_RESERVED8   8
#define TRACE_LEVEL_RESERVED9   9

#endif
