/* SPDX-License-Identifier: MIT */
#include "format/etl_item.h"

uint8_t etl_item_rank(uint16_t type)
{
	static const uint8_t ranks[] = {
		[ETL_ITEM_RELATED_ACTIVITYID] = 1,
		[ETL_ITEM_SID] = 2,
		[ETL_ITEM_TS_ID] = 3,
		[ETL_ITEM_STACK_TRACE32] = 4,
		[ETL_ITEM_STACK_TRACE64] = 4,
		[ETL_ITEM_STACK_KEY32] = 4,
		[ETL_ITEM_STACK_KEY64] = 4,
		[ETL_ITEM_PROV_TRAITS] = 5,
		[ETL_ITEM_EVENT_SCHEMA_TL] = 6,
		[ETL_ITEM_EVENT_KEY] = 7,
		[ETL_ITEM_PROCESS_START_KEY] = 8,
	};
	uint8_t rank = type < BASE_ARRAY_LEN(ranks) ? ranks[type] : 0;
	return rank ? rank : UINT8_MAX;
}
