/* SPDX-License-Identifier: MIT
 * A second source of the program, with trace calls of its own.
 */
#include "trace.h"

#include "shop.tmh"

int shop_sell(const char *customer, int fruit, int count)
{
	TraceEnter(FLAG_SHOP);
	if (count > 100) {
		int status = (int)0xC0000017; /* STATUS_NO_MEMORY, as an example */

		TraceFailure(FLAG_STOCK, status, "%s wants %d of %!Fruit!", customer, count, fruit);
		return status;
	}
	TraceFailure(FLAG_STOCK, 0, "never written%s", "");
	Trace(TRACE_LEVEL_INFORMATION, FLAG_SHOP, "%s buys %d x %!Fruit!", customer, count,
	      fruit);
	return 0;
}
