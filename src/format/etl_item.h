/* SPDX-License-Identifier: MIT
 *
 * Extended items: what stands between the header of an event and its payload. Their layout is in
 * format/etl_layout.h; here is how they are read, written and ordered.
 */
#ifndef FORMAT_ETL_ITEM_H
#define FORMAT_ETL_ITEM_H

#include "base/base.h"
#include "format/etl_layout.h"

/* Bytes of an item with so much data: header, data and padding. */
static inline uint32_t etl_item_total(uint16_t data_bytes)
{
	return BASE_ALIGN8((uint32_t)data_bytes + ETL_ITEM_HEADER_SIZE);
}

/* Writes one item (header, data, padding) at `out`; returns its total size. `more` sets Linkage: another
 * item follows. */
static inline uint32_t etl_put_item(uint8_t *out, uint16_t type, const void *data, uint16_t data_bytes, bool more)
{
	uint32_t total = etl_item_total(data_bytes);
	le16_put(out + 0, (uint16_t)total);
	le16_put(out + 2, type);
	le16_put(out + 4, more ? 1 : 0);
	le16_put(out + 6, data_bytes);
	if (data_bytes > 0) {
		memcpy(out + ETL_ITEM_HEADER_SIZE, data, data_bytes);
	}
	uint32_t end = ETL_ITEM_HEADER_SIZE + data_bytes;
	memset(out + end, 0, total - end);
	return total;
}

/* Where an item stands among others in real files: lower ranks first, unknown types last. */
uint8_t etl_item_rank(uint16_t type);

static inline bool etl_item_is_stack(uint16_t type)
{
	return type == ETL_ITEM_STACK_TRACE32 || type == ETL_ITEM_STACK_TRACE64 || type == ETL_ITEM_STACK_KEY32 ||
	       type == ETL_ITEM_STACK_KEY64;
}

/* The next of these items: start with *at = 0; false at the end or at the first malformed one. */
static inline bool etl_item_next(const uint8_t *items, uint32_t items_bytes, uint32_t *at, uint16_t *ret_type,
				 const uint8_t **ret_data, uint16_t *ret_bytes)
{
	if (*at >= items_bytes || items_bytes - *at < ETL_ITEM_HEADER_SIZE) {
		return false;
	}
	const uint8_t *p = items + *at;
	uint32_t total = le16_get(p);
	uint16_t data = le16_get(p + 6);
	if (total < ETL_ITEM_HEADER_SIZE || total > items_bytes - *at || data + ETL_ITEM_HEADER_SIZE > total) {
		return false;
	}
	*ret_type = le16_get(p + 2);
	*ret_data = p + ETL_ITEM_HEADER_SIZE;
	*ret_bytes = data;
	*at += total;
	return true;
}

#endif
