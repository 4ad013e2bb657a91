/* SPDX-License-Identifier: MIT
 *
 * Parameters of requests against an endpoint's list of them. Pure functions over texts that anybody may have sent.
 */
#ifndef TOOLS_VIEW_VIEW_PARAM_H
#define TOOLS_VIEW_VIEW_PARAM_H

#include "base/base.h"

#define VIEW_TEXT_MOST 16384u /* bytes of one parameter */

/* What is wrong with a parameter of this name and value? NULL: nothing. `params` is "NAME:KIND …" as in struct view_endpoint;
 * `why` gets a sentence, which is what is returned. A value of NULL: only the name is asked for. */
const char *view_param_problem(const char *params, const char *name, const char *value, char *why, size_t cap);
/* A finite number and nothing else. */
bool view_param_number(const char *text, double *ret);
/* Numbers with commas between them, at most `most`. False: it is none such. */
bool view_param_numbers(const char *text, uint32_t *ret, uint32_t most, uint32_t *ret_count);
/* Takes "NAME=VALUE&NAME=VALUE", of which an address has escaped letters, apart in place: the names and values point into
 * `query`. False: it is no such text, or there are more than `most`. */
bool view_param_split(char *query, char **ret_names, char **ret_values, uint32_t most, uint32_t *ret_count);

#endif
