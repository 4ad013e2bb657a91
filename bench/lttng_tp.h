/* SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_tp.h"
#if !defined(BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_TP_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(bench, event, LTTNG_UST_TP_ARGS(uint32_t, a, uint64_t, b, uint8_t *, c),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, a, a)
						       lttng_ust_field_integer(uint64_t, b, b)
							       lttng_ust_field_array(uint8_t, c, c, 16)))
#endif
#include <lttng/tracepoint-event.h>
