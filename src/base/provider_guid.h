/* SPDX-License-Identifier: MIT
 *
 * The GUID that people mean by a provider's name. Commands, the recorder of openetw/recorder.h and session
 * files use this one rule.
 */
#ifndef BASE_PROVIDER_GUID_H
#define BASE_PROVIDER_GUID_H

#include "base/base.h"

/* Finds the GUID that an installed manifest gives the name, without regard to case. The folder schema has the
 * manifests, which base cannot include: schema_process_provider_guid() is the one that programs pass. */
typedef bool (*provider_installed)(const char *name, struct guid *ret);

/* "{guid}", "guid" or "#guid" is that GUID. "*Name" is the GUID that TraceLogging and EventSource compute from
 * the name. "Name" is the GUID of the installed manifest of that name, else the computed one. `installed` may
 * be NULL: no manifests. 0 or -EINVAL. */
int provider_guid(const char *text, provider_installed installed, struct guid *ret);

#endif
