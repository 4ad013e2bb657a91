/* SPDX-License-Identifier: MIT
 *
 * TraceLogging as programs for user_events (eventheader) write it: with -I…/etw/linux they compile unmodified, and their
 * events are ETW events. See tlg/linux.h.
 */
#define ETW_TLG_LINUX 1
#include "../../TraceLoggingProvider.h"
