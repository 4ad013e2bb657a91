/* SPDX-License-Identifier: MIT
 *
 * WPP tracing: "openetw tracewpp -scan:trace.h main.c shop.c" makes main.tmh and shop.tmh, then the sources
 * compile as they are. Record and read:
 *
 *   openetw run -p '#5b1f0c3e-88d2-4f6b-9c0a-1e7d2b3a4c5d:0x3:5' -o wpp.etl -- ./wpp
 *   openetw tracefmt wpp.etl -displayonly
 */
#include "trace.h"

#include "main.tmh"

#include <stdio.h>

int main(int argc, char **argv)
{
	static const GUID id = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};
	static const WCHAR wide[] = {'w', 0xE9, 0};

	WPP_INIT_TRACING(L"shop");
	DoTraceMessage(FLAG_SHOP, "%d arguments, 100%% \"of them\", %s", argc, "text");
	DoTraceMessage(FLAG_SHOP, "no arguments");
	DoTraceMessage(FLAG_SHOP, "%u %x %08X %hd %hu %c %I64d %I64u %I64x %lld %p", 4000000000u, 0xBEEFu, 0xAFu,
		       (short)-7, (unsigned short)65535, 'c', -5000000000LL, 18000000000000000000ULL,
		       0x123456789ABCULL, -1LL, (void *)0x1234);
	DoTraceMessage(FLAG_SHOP, "%s|%S|%ws|%10s|%-4d|%f", (const char *)0, wide, wide, "right", 5, 1.5);
	DoTraceMessage(FLAG_SHOP, "%!STATUS! %!HRESULT! %!WINERROR! %!GUID! %!IPADDR! %!PORT! %!bool!",
		       (int)0xC0000005, (int)0x80070005, 5, &id, 0x0100007F, (unsigned short)0x5000, 1);
	DoTraceMessage(FLAG_SHOP,
		       "over "
		       "two lines in %!FUNC!, line %!LINE! of %!FILE!");
	Trace(TRACE_LEVEL_VERBOSE, FLAG_STOCK, "level %!LEVEL!, flags %!FLAGS!");
	shop_sell("ann", 1, 3);
	shop_sell("bob", 2, 1000);
	WPP_CLEANUP();
	DoTraceMessage(FLAG_SHOP, "nobody hears this");
	printf("%s: done\n", argv[0]);
	return 0;
}
