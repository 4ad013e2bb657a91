/* SPDX-License-Identifier: MIT
 * The GUID that a provider's name stands for.
 */
#include "base/provider_guid.h"
#include "format/kernel_mask.h"
#include "schema/schema_store.h"

#include "etw/values/errors.h"

#include <openetw/decode.h>

/* Those that Windows gave fixed GUIDs have no manifests. */
static bool installed(const char *name, struct guid *ret)
{
	return kernel_provider_find(name, ret) || schema_process_provider_guid(name, ret);
}

uint32_t openetw_provider_guid(const char *text, struct openetw_guid *guid)
{
	struct guid g;
	if (!text || !guid || provider_guid(text, installed, &g) < 0) {
		return ERROR_INVALID_PARAMETER;
	}
	memcpy(guid->bytes, g.b, sizeof g.b);
	return ERROR_SUCCESS;
}
