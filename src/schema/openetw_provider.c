/* SPDX-License-Identifier: MIT
 * The GUID that a provider's name stands for.
 */
#include "base/provider_guid.h"
#include "schema/schema_store.h"

#include "etw/values/errors.h"

#include <openetw/decode.h>

uint32_t openetw_provider_guid(const char *text, struct openetw_guid *guid)
{
	struct guid g;
	if (!text || !guid || provider_guid(text, schema_process_provider_guid, &g) < 0) {
		return ERROR_INVALID_PARAMETER;
	}
	memcpy(guid->bytes, g.b, sizeof g.b);
	return ERROR_SUCCESS;
}
