/* SPDX-License-Identifier: MIT
 *
 * Types of arguments. What Windows calls long has 32 bits here too: sources and .tmf files say so.
 */
#include "tracewpp/tracewpp_private.h"

#include <strings.h>

#define VALUE(type) "WPP_LOGTYPEVAL(" type ", "

/* Conversions by size and letter. */
static const struct wpp_type printf_types[] = {
	{NULL, "d", VALUE("INT"), "INT", "ItemLong", NULL, "d"},
	{NULL, "i", VALUE("INT"), "INT", "ItemLong", NULL, "d"},
	{NULL, "u", VALUE("UINT"), "UINT", "ItemULong", NULL, "u"},
	{NULL, "x", VALUE("UINT"), "UINT", "ItemLong", NULL, "x"},
	{NULL, "X", VALUE("UINT"), "UINT", "ItemLong", NULL, "x"},
	{NULL, "o", VALUE("UINT"), "UINT", "ItemLong", NULL, "x"},
	{NULL, "c", VALUE("CHAR"), "CHAR", "ItemChar", NULL, "c"},
	{NULL, "C", VALUE("WCHAR"), "WCHAR", "ItemWChar", "c", "C"},
	{NULL, "hc", VALUE("CHAR"), "CHAR", "ItemChar", "c", "c"},
	{NULL, "lc", VALUE("WCHAR"), "WCHAR", "ItemWChar", "c", "C"},
	{NULL, "wc", VALUE("WCHAR"), "WCHAR", "ItemWChar", "c", "C"},
	{NULL, "hhd", VALUE("signed char"), "signed char", "ItemCharSign", "d", "hhd"},
	{NULL, "hhu", VALUE("unsigned char"), "unsigned char", "ItemUChar", "u", "hhu"},
	{NULL, "hhx", VALUE("unsigned char"), "unsigned char", "ItemUChar", "x", "hhu"},
	{NULL, "hhX", VALUE("unsigned char"), "unsigned char", "ItemUChar", "X", "hhu"},
	{NULL, "hd", VALUE("SHORT"), "SHORT", "ItemShort", NULL, "h"},
	{NULL, "hi", VALUE("SHORT"), "SHORT", "ItemShort", NULL, "h"},
	{NULL, "hu", VALUE("USHORT"), "USHORT", "ItemUShort", NULL, "H"},
	{NULL, "hx", VALUE("USHORT"), "USHORT", "ItemUShort", NULL, "H"},
	{NULL, "hX", VALUE("USHORT"), "USHORT", "ItemUShort", NULL, "H"},
	{NULL, "ld", VALUE("LONG"), "LONG", "ItemLong", NULL, "l"},
	{NULL, "li", VALUE("LONG"), "LONG", "ItemLong", NULL, "l"},
	{NULL, "lu", VALUE("ULONG"), "ULONG", "ItemULong", NULL, "L"},
	{NULL, "lx", VALUE("ULONG"), "ULONG", "ItemLong", NULL, "L"},
	{NULL, "lX", VALUE("ULONG"), "ULONG", "ItemLong", NULL, "L"},
	{NULL, "I64d", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", NULL, "i"},
	{NULL, "I64i", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", NULL, "i"},
	{NULL, "I64u", VALUE("ULONGLONG"), "ULONGLONG", "ItemULongLong", NULL, "I"},
	{NULL, "I64x", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongX", NULL, "I"},
	{NULL, "I64X", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongXX", NULL, "I"},
	{NULL, "I64o", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongO", NULL, "I"},
	{NULL, "lld", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", "I64d", "i"},
	{NULL, "lli", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", "I64d", "i"},
	{NULL, "llu", VALUE("ULONGLONG"), "ULONGLONG", "ItemULongLong", "I64u", "I"},
	{NULL, "llx", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongX", "I64x", "I"},
	{NULL, "llX", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongXX", "I64X", "I"},
	{NULL, "I32d", VALUE("INT"), "INT", "ItemLong", "d", "d"},
	{NULL, "I32u", VALUE("UINT"), "UINT", "ItemULong", "u", "u"},
	{NULL, "I32x", VALUE("UINT"), "UINT", "ItemLong", "x", "x"},
	{NULL, "I32X", VALUE("UINT"), "UINT", "ItemLong", "X", "x"},
	/* of the size of pointers */
	{NULL, "Id", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", "I64d", "i"},
	{NULL, "Iu", VALUE("ULONGLONG"), "ULONGLONG", "ItemULongLong", "I64u", "I"},
	{NULL, "Ix", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongX", "I64x", "I"},
	{NULL, "IX", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongXX", "I64X", "I"},
	{NULL, "zd", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", "I64d", "i"},
	{NULL, "zu", VALUE("ULONGLONG"), "ULONGLONG", "ItemULongLong", "I64u", "I"},
	{NULL, "zx", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongX", "I64x", "I"},
	{NULL, "zX", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongXX", "I64X", "I"},
	{NULL, "p", "WPP_LOGPOINTER(", "const void *", "ItemPtr", NULL, "q"},
	{NULL, "f", VALUE("double"), "double", "ItemDouble", "s", "g"},
	{NULL, "e", VALUE("double"), "double", "ItemDouble", "s", "g"},
	{NULL, "E", VALUE("double"), "double", "ItemDouble", "s", "g"},
	{NULL, "g", VALUE("double"), "double", "ItemDouble", "s", "g"},
	{NULL, "G", VALUE("double"), "double", "ItemDouble", "s", "g"},
	{NULL, "ho", VALUE("USHORT"), "USHORT", "ItemUShort", "o", "H"},
	{NULL, "lo", VALUE("ULONG"), "ULONG", "ItemULong", "o", "L"},
	{NULL, "llo", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongO", "I64o", "I"},
	{NULL, "Io", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongO", "I64o", "I"},
	{NULL, "zo", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongO", "I64o", "I"},
	{NULL, "lf", VALUE("double"), "double", "ItemDouble", "s", "g"},
	{NULL, "s", "WPP_LOGASTR(", "LPCSTR", "ItemString", NULL, "s"},
	{NULL, "hs", "WPP_LOGASTR(", "LPCSTR", "ItemString", "s", "s"},
	{NULL, "S", "WPP_LOGWSTR(", "LPCWSTR", "ItemWString", "s", "S"},
	{NULL, "ls", "WPP_LOGWSTR(", "LPCWSTR", "ItemWString", "s", "S"},
	{NULL, "ws", "WPP_LOGWSTR(", "LPCWSTR", "ItemWString", "s", "S"},
	{NULL, "hS", "WPP_LOGASTR(", "LPCSTR", "ItemString", "s", "s"},
	{NULL, "Z", "WPP_LOGPASTR(", "const void *", "ItemPString", "s", "aZ"},
	{NULL, "hZ", "WPP_LOGPASTR(", "const void *", "ItemPString", "s", "aZ"},
	{NULL, "wZ", "WPP_LOGPUSTR(", "const void *", "ItemPWString", "s", "Z"},
};

#define BITS8  "1,2,3,4,5,6,7,8"
#define BITS16 BITS8 ",9,10,11,12,13,14,15,16"
#define BITS32 BITS16 ",17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32"

static const struct wpp_type named_types[] = {
	/* of C++; their names are not those of other letters */
	{NULL, "str", "WPP_LOGCPPSTR(", "const std::string &", "ItemPString", "s", "_str_"},
	{NULL, "sv", "WPP_LOGCPPSTR(", "const std::string_view &", "ItemPString", "s", "_sv_"},
	{NULL, "wstr", "WPP_LOGCPPSTR(", "const std::wstring &", "ItemPWString", "s", "_wstr_"},
	{NULL, "wsv", "WPP_LOGCPPSTR(", "const std::wstring_view &", "ItemPWString", "s", "_wsv_"},
	{NULL, "STATUS", VALUE("INT"), "INT", "ItemNTSTATUS", "s", "d"},
	{NULL, "NTSTATUS", VALUE("INT"), "INT", "ItemNTSTATUS", "s", "d"},
	{NULL, "HRESULT", VALUE("INT"), "INT", "ItemHRESULT", "s", "d"},
	{NULL, "WINERROR", VALUE("UINT"), "UINT", "ItemWINERROR", "s", "u"},
	{NULL, "WINERR", VALUE("UINT"), "UINT", "ItemWINERROR", "s", "u"},
	{NULL, "GUID", "WPP_LOGGUID(", "const GUID *", "ItemGuid", "s", "_guid_"},
	{NULL, "CLSID", "WPP_LOGGUID(", "const GUID *", "ItemCLSID", "s", "_guid_"},
	{NULL, "IID", "WPP_LOGGUID(", "const GUID *", "ItemIID", "s", "_guid_"},
	{NULL, "LIBID", "WPP_LOGGUID(", "const GUID *", "ItemLIBID", "s", "_guid_"},
	{NULL, "IPADDR", VALUE("UINT"), "UINT", "ItemIPAddr", "s", "u"},
	{NULL, "PORT", VALUE("USHORT"), "USHORT", "ItemPort", "s", "H"},
	{NULL, "SID", "WPP_LOGSID(", "const void *", "ItemSid", "s", "_sid_"},
	{NULL, "TIMESTAMP", VALUE("LONGLONG"), "LONGLONG", "ItemTimestamp", "s", "i"},
	{NULL, "DATETIME", VALUE("LONGLONG"), "LONGLONG", "ItemTimestamp", "s", "i"},
	{NULL, "TIME", VALUE("LONGLONG"), "LONGLONG", "ItemTime", "s", "i"},
	{NULL, "DATE", VALUE("LONGLONG"), "LONGLONG", "ItemDate", "s", "i"},
	{NULL, "WAITTIME", VALUE("LONGLONG"), "LONGLONG", "ItemWaitTime", "s", "i"},
	{NULL, "DELTA", VALUE("LONGLONG"), "LONGLONG", "ItemTimeDelta", "s", "i"},
	{NULL, "DUE", VALUE("LONGLONG"), "LONGLONG", "ItemDue", "s", "i"},
	{NULL, "BOOL", VALUE("UINT"), "UINT", "ItemListLong(false,true)", "s", "u"},
	{NULL, "BOOLEAN", VALUE("UCHAR"), "UCHAR", "ItemListByte(FALSE,TRUE)", "s", "hhu"},
	{NULL, "BOOL8", VALUE("UCHAR"), "UCHAR", "ItemListByte(false,true)", "s", "hhu"},
	{NULL, "IRQL", VALUE("UCHAR"), "UCHAR", "ItemListByte(Low,APC,DPC)", "s", "hhu"},
	{NULL, "BOOL16", VALUE("USHORT"), "USHORT", "ItemListShort(false,true)", "s", "H"},
	{NULL, "B1", VALUE("UCHAR"), "UCHAR", "ItemSetByte(" BITS8 ")", "s", "hhu"},
	{NULL, "B2", VALUE("USHORT"), "USHORT", "ItemSetShort(" BITS16 ")", "s", "H"},
	{NULL, "B4", VALUE("UINT"), "UINT", "ItemSetLong(" BITS32 ")", "s", "u"},
	{NULL, "NDIS_STATUS", VALUE("INT"), "INT", "ItemNDIS_STATUS", "s", "d"},
	{NULL, "NDIS_OID", VALUE("UINT"), "UINT", "ItemNDIS_OID", "s", "u"},
	{NULL, "DOUBLE", VALUE("double"), "double", "ItemDouble", "s", "g"},
	{NULL, "HANDLE", "WPP_LOGPOINTER(", "const void *", "ItemPtr", "p", "q"},
	{NULL, "SCHAR", VALUE("signed char"), "signed char", "ItemChar", "c", "hhd"},
	{NULL, "UCHAR", VALUE("UCHAR"), "UCHAR", "ItemUChar", "c", "hhu"},
	{NULL, "OBYTE", VALUE("UCHAR"), "UCHAR", "ItemUChar", "o", "hhu"},
	{NULL, "OSHORT", VALUE("USHORT"), "USHORT", "ItemUShort", "o", "H"},
	{NULL, "OINT", VALUE("UINT"), "UINT", "ItemULong", "o", "u"},
	{NULL, "OLONG", VALUE("ULONG"), "ULONG", "ItemULong", "o", "L"},
	{NULL, "OINT64", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongO", "I64o", "I"},
	{NULL, "XXINT64", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongXX", "I64X", "I"},
	{NULL, "SLONGPTR", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", "I64d", "i"},
	{NULL, "ULONGPTR", VALUE("ULONGLONG"), "ULONGLONG", "ItemULongLong", "I64u", "I"},
	{NULL, "XLONGPTR", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongX", "I64x", "I"},
	{NULL, "OLONGPTR", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongO", "I64o", "I"},
	{NULL, "ARSTR", "WPP_LOGASTR(", "LPCSTR", "ItemRString", "s", "s"},
	{NULL, "ARWSTR", "WPP_LOGWSTR(", "LPCWSTR", "ItemRWString", "s", "S"},
	{NULL, "CSTR", "WPP_LOGPASTR(", "const void *", "ItemPString", "s", "aZ"},
	{NULL, "SBYTE", VALUE("signed char"), "signed char", "ItemCharSign", "d", "hhd"},
	{NULL, "UBYTE", VALUE("UCHAR"), "UCHAR", "ItemUChar", "u", "hhu"},
	{NULL, "XBYTE", VALUE("UCHAR"), "UCHAR", "ItemUChar", "02x", "hhu"},
	{NULL, "SSHORT", VALUE("SHORT"), "SHORT", "ItemShort", "d", "h"},
	{NULL, "USHORT", VALUE("USHORT"), "USHORT", "ItemUShort", "u", "H"},
	{NULL, "XSHORT", VALUE("USHORT"), "USHORT", "ItemUShort", "04x", "H"},
	{NULL, "SINT", VALUE("INT"), "INT", "ItemLong", "d", "d"},
	{NULL, "UINT", VALUE("UINT"), "UINT", "ItemULong", "u", "u"},
	{NULL, "XINT", VALUE("UINT"), "UINT", "ItemLong", "08x", "x"},
	{NULL, "SLONG", VALUE("LONG"), "LONG", "ItemLong", "d", "l"},
	{NULL, "ULONG", VALUE("ULONG"), "ULONG", "ItemULong", "u", "L"},
	{NULL, "XLONG", VALUE("ULONG"), "ULONG", "ItemLong", "08x", "L"},
	{NULL, "SINT64", VALUE("LONGLONG"), "LONGLONG", "ItemLongLong", "I64d", "i"},
	{NULL, "UINT64", VALUE("ULONGLONG"), "ULONGLONG", "ItemULongLong", "I64u", "I"},
	{NULL, "XINT64", VALUE("ULONGLONG"), "ULONGLONG", "ItemLongLongX", "I64x", "I"},
	{NULL, "PTR", "WPP_LOGPOINTER(", "const void *", "ItemPtr", "p", "q"},
	{NULL, "ASTR", "WPP_LOGASTR(", "LPCSTR", "ItemString", "s", "s"},
	{NULL, "WSTR", "WPP_LOGWSTR(", "LPCWSTR", "ItemWString", "s", "S"},
	{NULL, "USTR", "WPP_LOGPUSTR(", "const void *", "ItemPWString", "s", "Z"},
	{NULL, "ANSTR", "WPP_LOGPASTR(", "const void *", "ItemPString", "s", "aZ"},
	{NULL, "SOCKADDR", "WPP_LOGSOCKADDR(", "const void *", "ItemSockAddr", "s", "_sockaddr_"},
	{NULL, "MACADDR", "WPP_LOGMAC(", "const void *", "ItemMACAddr", "s", "_mac_"},
};

const struct wpp_type *wpp_type_printf(const char *text, size_t n)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(printf_types); i++) {
		if (strlen(printf_types[i].name) == n && memcmp(printf_types[i].name, text, n) == 0) {
			return &printf_types[i];
		}
	}
	return NULL;
}

const struct wpp_type *wpp_type_named(const struct tracewpp *w, const char *name, size_t n)
{
	for (const struct wpp_type *t = w->types; t; t = t->next) {
		if (strlen(t->name) == n && memcmp(t->name, name, n) == 0) {
			return t;
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(named_types); i++) {
		if (named_types[i].name[0] >= 'a') {
			if (strlen(named_types[i].name) == n && memcmp(named_types[i].name, name, n) == 0) {
				return &named_types[i];
			}
			continue;
		}
		if (strlen(named_types[i].name) == n && strncasecmp(named_types[i].name, name, n) == 0) {
			return &named_types[i];
		}
	}
	return NULL;
}
