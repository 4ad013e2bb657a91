/* SPDX-License-Identifier: MIT
 *
 * A provider as a person writes it: "Name:keywords:level:options:filter". Each part but the name may be missing or
 * empty. docs/cli.md explains it.
 *
 *   Name       a name, *Name, GUID, {GUID} or #GUID: base/provider_guid.h
 *   keywords   a mask such as 0x10, or *
 *   level      0-255, or critical, error, warning, info, verbose
 *   options    words joined by , or |, such as stack,sid or 'stack','sid'; or a number of
 *              EVENT_ENABLE_PROPERTY_* bits
 *   filter     of src/filter, which the session evaluates. It may also stand in the place of the options, when it does not
 *              look like one of them: it has a blank or one of = < > ! ~ (
 */
#ifndef SESSION_PROVIDER_SPEC_H
#define SESSION_PROVIDER_SPEC_H

#include "base/provider_guid.h"

struct provider_spec {
	struct guid guid;
	char name[256]; /* as written */
	uint64_t any, all;
	uint8_t level;
	uint32_t properties; /* EVENT_ENABLE_PROPERTY_* */
	const char *filter;  /* points into the text; NULL: none */
};

/* What the text does not say keeps its value in *inout; options are added to those that are there. 0; -EINVAL
 * with a sentence in *d, and *inout is as it was. */
int provider_spec_parse(const char *text, provider_installed installed, struct provider_spec *inout, struct diag *d);

#endif
