/* SPDX-License-Identifier: MIT
 * The GUID that a provider's name stands for.
 */
#include "base/provider_guid.h"
#include "schema/schema_store.h"

#include <openetw/decode.h>

int openetw_provider_guid(const char *text, void *ret_guid)
{
	struct guid g;
	int r = text && ret_guid ? provider_guid(text, schema_process_provider_guid, &g) : -EINVAL;
	if (r == 0) {
		memcpy(ret_guid, g.b, sizeof g.b);
	}
	return r;
}
