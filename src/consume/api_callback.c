/* SPDX-License-Identifier: MIT
 *
 * SetTraceCallback and RemoveTraceCallback: callbacks for single classes, for the whole process.
 */
#include "consume/consume_trace.h"
#include "base/vec.h"

#include "base/order.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	struct row {
		struct guid guid;
		PEVENT_CALLBACK callback;
	} * rows;
	uint32_t count, cap;
} classes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct row *find_locked(const struct guid *g)
{
	for (uint32_t i = 0; i < classes.count; i++) {
		if (guid_equal(&classes.rows[i].guid, g)) {
			return &classes.rows[i];
		}
	}
	return NULL;
}

bool trace_class_callback(const struct guid *g, PEVENT_CALLBACK *ret)
{
	/* Nearly always there are none, and this is asked for every event. */
	if (BASE_LIKELY(order_load_relaxed(&classes.count) == 0)) {
		return false;
	}
	pthread_mutex_lock(&classes.lock);
	struct row *r = find_locked(g);
	if (r) {
		*ret = r->callback;
	}
	pthread_mutex_unlock(&classes.lock);
	return r != NULL;
}

ULONG WMIAPI SetTraceCallback(LPCGUID Guid, PEVENT_CALLBACK EventCallback)
{
	if (!Guid || !EventCallback) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid g;
	memcpy(&g, Guid, sizeof g);
	ULONG code = ERROR_SUCCESS;
	pthread_mutex_lock(&classes.lock);
	struct row *r = find_locked(&g);
	if (!r) {
		if (VEC_ROOM(classes.rows, classes.count, classes.cap)) {
			classes.rows[classes.count] = (struct row){g, EventCallback};
			order_store_relaxed(&classes.count, classes.count + 1);
		} else {
			code = ERROR_OUTOFMEMORY;
		}
	} else {
		r->callback = EventCallback;
	}
	pthread_mutex_unlock(&classes.lock);
	return code;
}

ULONG WMIAPI RemoveTraceCallback(LPCGUID Guid)
{
	if (!Guid) {
		return ERROR_INVALID_PARAMETER;
	}
	struct guid g;
	memcpy(&g, Guid, sizeof g);
	ULONG code = ERROR_WMI_GUID_NOT_FOUND;
	pthread_mutex_lock(&classes.lock);
	struct row *r = find_locked(&g);
	if (r) {
		*r = classes.rows[classes.count - 1];
		order_store_relaxed(&classes.count, classes.count - 1);
		code = ERROR_SUCCESS;
	}
	pthread_mutex_unlock(&classes.lock);
	return code;
}
