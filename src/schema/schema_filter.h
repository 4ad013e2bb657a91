/* SPDX-License-Identifier: MIT
 *
 * Conditions of a filter on the fields of a manifest's event, as a payload filter. What a session cannot know by itself is
 * taken from the manifests that this process knows.
 */
#ifndef SCHEMA_SCHEMA_FILTER_H
#define SCHEMA_SCHEMA_FILTER_H

#include "filter/filter_compile.h"

/* A filter_manifest_fn. The event is meant in all its versions. */
BASE_SHARED int schema_filter_manifest(const struct guid *provider, uint16_t id, const struct filter_conditions *c,
				       uint8_t out[FILTER_BYTES_MAX], size_t *inout_bytes, struct diag *d);

#endif
