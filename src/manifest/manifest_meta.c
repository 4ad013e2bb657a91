/* SPDX-License-Identifier: MIT
 *
 * What every manifest may use without declaring it: levels, opcodes, keywords, channels, types.
 */
#include "manifest/manifest.h"

#include <pthread.h>
#include <strings.h>

/* Names inside the table: pointers would be written by the loader, in every process. */
static const struct {
	uint8_t kind;
	char name[20], text[18];
	uint64_t value;
} rows[] = {
	{MANIFEST_LEVEL, "win:LogAlways", "Log Always", 0},
	{MANIFEST_LEVEL, "win:Critical", "Critical", 1},
	{MANIFEST_LEVEL, "win:Error", "Error", 2},
	{MANIFEST_LEVEL, "win:Warning", "Warning", 3},
	{MANIFEST_LEVEL, "win:Informational", "Information", 4},
	{MANIFEST_LEVEL, "win:Verbose", "Verbose", 5},
	{MANIFEST_OPCODE, "win:Info", "Info", 0},
	{MANIFEST_OPCODE, "win:Start", "Start", 1},
	{MANIFEST_OPCODE, "win:Stop", "Stop", 2},
	{MANIFEST_OPCODE, "win:DC_Start", "DCStart", 3},
	{MANIFEST_OPCODE, "win:DC_Stop", "DCStop", 4},
	{MANIFEST_OPCODE, "win:Extension", "Extension", 5},
	{MANIFEST_OPCODE, "win:Reply", "Reply", 6},
	{MANIFEST_OPCODE, "win:Resume", "Resume", 7},
	{MANIFEST_OPCODE, "win:Suspend", "Suspend", 8},
	{MANIFEST_OPCODE, "win:Send", "Send", 9},
	{MANIFEST_OPCODE, "win:Receive", "Receive", 240},
	{MANIFEST_KEYWORD, "win:AnyKeyword", "Any", 0},
	{MANIFEST_KEYWORD, "win:ResponseTime", "Response Time", 1ull << 48},
	{MANIFEST_KEYWORD, "win:WDIContext", "WDI Context", 1ull << 49},
	{MANIFEST_KEYWORD, "win:WDIDiag", "WDI Diag", 1ull << 50},
	{MANIFEST_KEYWORD, "win:SQM", "SQM", 1ull << 51},
	{MANIFEST_KEYWORD, "win:AuditFailure", "Audit Failure", 1ull << 52},
	{MANIFEST_KEYWORD, "win:AuditSuccess", "Audit Success", 1ull << 53},
	{MANIFEST_KEYWORD, "win:CorrelationHint", "Correlation Hint", 1ull << 54},
	{MANIFEST_KEYWORD, "win:EventlogClassic", "Classic", 1ull << 55},
	{MANIFEST_CHANNEL, "TraceClassic", "TraceClassic", 0},
	{MANIFEST_CHANNEL, "System", "System", 8},
	{MANIFEST_CHANNEL, "Application", "Application", 9},
	{MANIFEST_CHANNEL, "Security", "Security", 10},
	{MANIFEST_CHANNEL, "TraceLogging", "TraceLogging", 11},
	{MANIFEST_CHANNEL, "ProviderMetadata", "ProviderMetadata", 12},
	{MANIFEST_TASK, "win:None", "", 0},
};
static struct manifest_name predefined[BASE_ARRAY_LEN(rows)];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_predefined(void)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		predefined[i] = (struct manifest_name){
			.name = rows[i].name, .text = rows[i].text, .value = rows[i].value, .predefined = true};
	}
}

const struct manifest_name *manifest_predefined(enum manifest_kind kind, uint64_t value)
{
	pthread_once(&once, make_predefined);
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (rows[i].kind == kind && rows[i].value == value) {
			return &predefined[i];
		}
	}
	return NULL;
}

const struct manifest_name *manifest_predefined_by_name(enum manifest_kind kind, const char *name)
{
	pthread_once(&once, make_predefined);
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0) {
			return &predefined[i];
		}
	}
	return NULL;
}

const struct manifest_name *manifest_find(const struct manifest_provider *p, enum manifest_kind kind, const char *name)
{
	for (const struct manifest_name *n = p->names[kind]; n; n = n->next) {
		if (strcmp(n->name, name) == 0 || (n->chid && strcmp(n->chid, name) == 0)) {
			return n;
		}
	}
	return manifest_predefined_by_name(kind, name);
}

const struct manifest_name *manifest_find_value(const struct manifest_provider *p, enum manifest_kind kind,
						uint64_t value, const struct manifest_name *task)
{
	const struct manifest_name *common = NULL;
	for (const struct manifest_name *n = p->names[kind]; n; n = n->next) {
		if (n->value != value) {
			continue;
		}
		if (kind != MANIFEST_OPCODE || (n->task && n->task == task)) {
			return n;
		}
		common = !n->task && !common ? n : common;
	}
	return common ? common : manifest_predefined(kind, value);
}

/* ---- types ------------------------------------------------------------------------------------ */

/* Names inside the tables here: pointers would be written by the loader, in every process. */
struct type_name {
	char name[30];
	uint16_t value;
};
static const struct type_name in_types[] = {
	{"UnicodeString", TDH_INTYPE_UNICODESTRING},
	{"AnsiString", TDH_INTYPE_ANSISTRING},
	{"Int8", TDH_INTYPE_INT8},
	{"UInt8", TDH_INTYPE_UINT8},
	{"Int16", TDH_INTYPE_INT16},
	{"UInt16", TDH_INTYPE_UINT16},
	{"Int32", TDH_INTYPE_INT32},
	{"UInt32", TDH_INTYPE_UINT32},
	{"Int64", TDH_INTYPE_INT64},
	{"UInt64", TDH_INTYPE_UINT64},
	{"Float", TDH_INTYPE_FLOAT},
	{"Double", TDH_INTYPE_DOUBLE},
	{"Boolean", TDH_INTYPE_BOOLEAN},
	{"Binary", TDH_INTYPE_BINARY},
	{"GUID", TDH_INTYPE_GUID},
	{"Pointer", TDH_INTYPE_POINTER},
	{"FILETIME", TDH_INTYPE_FILETIME},
	{"SYSTEMTIME", TDH_INTYPE_SYSTEMTIME},
	{"SID", TDH_INTYPE_SID},
	{"HexInt32", TDH_INTYPE_HEXINT32},
	{"HexInt64", TDH_INTYPE_HEXINT64},
	{"CountedUnicodeString", TDH_INTYPE_MANIFEST_COUNTEDSTRING},
	{"CountedAnsiString", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING},
	{"CountedBinary", TDH_INTYPE_MANIFEST_COUNTEDBINARY},
};
static const struct type_name out_types[] = {
	{"string", TDH_OUTTYPE_STRING},
	{"dateTime", TDH_OUTTYPE_DATETIME},
	{"byte", TDH_OUTTYPE_BYTE},
	{"unsignedByte", TDH_OUTTYPE_UNSIGNEDBYTE},
	{"short", TDH_OUTTYPE_SHORT},
	{"unsignedShort", TDH_OUTTYPE_UNSIGNEDSHORT},
	{"int", TDH_OUTTYPE_INT},
	{"unsignedInt", TDH_OUTTYPE_UNSIGNEDINT},
	{"long", TDH_OUTTYPE_LONG},
	{"unsignedLong", TDH_OUTTYPE_UNSIGNEDLONG},
	{"float", TDH_OUTTYPE_FLOAT},
	{"double", TDH_OUTTYPE_DOUBLE},
	{"boolean", TDH_OUTTYPE_BOOLEAN},
	{"GUID", TDH_OUTTYPE_GUID},
	{"hexBinary", TDH_OUTTYPE_HEXBINARY},
	{"HexInt8", TDH_OUTTYPE_HEXINT8},
	{"HexInt16", TDH_OUTTYPE_HEXINT16},
	{"HexInt32", TDH_OUTTYPE_HEXINT32},
	{"HexInt64", TDH_OUTTYPE_HEXINT64},
	{"PID", TDH_OUTTYPE_PID},
	{"TID", TDH_OUTTYPE_TID},
	{"Port", TDH_OUTTYPE_PORT},
	{"IPv4", TDH_OUTTYPE_IPV4},
	{"IPv6", TDH_OUTTYPE_IPV6},
	{"SocketAddress", TDH_OUTTYPE_SOCKETADDRESS},
	{"CIMDateTime", TDH_OUTTYPE_CIMDATETIME},
	{"ETWTIME", TDH_OUTTYPE_ETWTIME},
	{"Xml", TDH_OUTTYPE_XML},
	{"ErrorCode", TDH_OUTTYPE_ERRORCODE},
	{"Win32Error", TDH_OUTTYPE_WIN32ERROR},
	{"NTSTATUS", TDH_OUTTYPE_NTSTATUS},
	{"HResult", TDH_OUTTYPE_HRESULT},
	{"DateTimeCultureInsensitive", TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME},
	{"Json", TDH_OUTTYPE_JSON},
	{"Utf8", TDH_OUTTYPE_UTF8},
	{"Pkcs7WithTypeInfo", TDH_OUTTYPE_PKCS7_WITH_TYPE_INFO},
	{"CodePointer", TDH_OUTTYPE_CODE_POINTER},
	{"DateTimeUtc", TDH_OUTTYPE_DATETIME_UTC},
};

static bool find_type(const struct type_name *types, size_t count, const char *name, uint16_t *ret)
{
	const char *colon = strchr(name, ':');
	const char *bare = colon ? colon + 1 : name;
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(types[i].name, bare) == 0) {
			*ret = types[i].value;
			return true;
		}
	}
	return false;
}

static const char *type_name(const struct type_name *types, size_t count, uint16_t value)
{
	for (size_t i = 0; i < count; i++) {
		if (types[i].value == value) {
			return types[i].name;
		}
	}
	return NULL;
}

const char *manifest_in_type_name(uint16_t in_type)
{
	return type_name(in_types, BASE_ARRAY_LEN(in_types), in_type);
}

const char *manifest_out_type_name(uint16_t out_type)
{
	return type_name(out_types, BASE_ARRAY_LEN(out_types), out_type);
}

bool manifest_in_type(const char *name, uint16_t *ret)
{
	return find_type(in_types, BASE_ARRAY_LEN(in_types), name, ret);
}

bool manifest_out_type(const char *name, uint16_t *ret)
{
	return find_type(out_types, BASE_ARRAY_LEN(out_types), name, ret);
}

/* The out types of winmeta besides the default, as bits. */
#define BIT(x) (1ull << TDH_OUTTYPE_##x)
#define TEXTS  (BIT(XML) | BIT(JSON))
#define DATES  (BIT(CULTURE_INSENSITIVE_DATETIME) | BIT(DATETIME_UTC))
#define CODES  (BIT(ERRORCODE) | BIT(WIN32ERROR) | BIT(NTSTATUS) | BIT(CODE_POINTER))
static const uint64_t more_out_types[] = {
	[TDH_INTYPE_UNICODESTRING] = TEXTS,
	[TDH_INTYPE_ANSISTRING] = TEXTS | BIT(UTF8),
	[TDH_INTYPE_MANIFEST_COUNTEDSTRING] = TEXTS,
	[TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = TEXTS | BIT(UTF8),
	[TDH_INTYPE_INT8] = BIT(STRING),
	[TDH_INTYPE_UINT8] = BIT(HEXINT8) | BIT(STRING) | BIT(BOOLEAN),
	[TDH_INTYPE_UINT16] = BIT(PORT) | BIT(HEXINT16) | BIT(STRING),
	[TDH_INTYPE_INT32] = BIT(HRESULT),
	[TDH_INTYPE_UINT32] = CODES | BIT(PID) | BIT(TID) | BIT(IPV4) | BIT(ETWTIME) | BIT(HEXINT32),
	[TDH_INTYPE_UINT64] = BIT(ETWTIME) | BIT(HEXINT64) | BIT(CODE_POINTER),
	[TDH_INTYPE_BINARY] = BIT(IPV6) | BIT(SOCKETADDRESS) | BIT(PKCS7_WITH_TYPE_INFO),
	[TDH_INTYPE_MANIFEST_COUNTEDBINARY] = BIT(IPV6) | BIT(SOCKETADDRESS) | BIT(PKCS7_WITH_TYPE_INFO),
	[TDH_INTYPE_POINTER] = BIT(CODE_POINTER) | BIT(LONG) | BIT(UNSIGNEDLONG),
	[TDH_INTYPE_FILETIME] = DATES,
	[TDH_INTYPE_SYSTEMTIME] = DATES,
	[TDH_INTYPE_HEXINT32] = CODES,
	[TDH_INTYPE_HEXINT64] = BIT(CODE_POINTER),
};

uint16_t manifest_out_default(uint16_t in)
{
	static const uint8_t small[] = {
		[TDH_INTYPE_NULL] = TDH_OUTTYPE_NULL,
		[TDH_INTYPE_UNICODESTRING] = TDH_OUTTYPE_STRING,
		[TDH_INTYPE_ANSISTRING] = TDH_OUTTYPE_STRING,
		[TDH_INTYPE_INT8] = TDH_OUTTYPE_BYTE,
		[TDH_INTYPE_UINT8] = TDH_OUTTYPE_UNSIGNEDBYTE,
		[TDH_INTYPE_INT16] = TDH_OUTTYPE_SHORT,
		[TDH_INTYPE_UINT16] = TDH_OUTTYPE_UNSIGNEDSHORT,
		[TDH_INTYPE_INT32] = TDH_OUTTYPE_INT,
		[TDH_INTYPE_UINT32] = TDH_OUTTYPE_UNSIGNEDINT,
		[TDH_INTYPE_INT64] = TDH_OUTTYPE_LONG,
		[TDH_INTYPE_UINT64] = TDH_OUTTYPE_UNSIGNEDLONG,
		[TDH_INTYPE_FLOAT] = TDH_OUTTYPE_FLOAT,
		[TDH_INTYPE_DOUBLE] = TDH_OUTTYPE_DOUBLE,
		[TDH_INTYPE_BOOLEAN] = TDH_OUTTYPE_BOOLEAN,
		[TDH_INTYPE_BINARY] = TDH_OUTTYPE_HEXBINARY,
		[TDH_INTYPE_GUID] = TDH_OUTTYPE_GUID,
		[TDH_INTYPE_POINTER] = TDH_OUTTYPE_HEXINT64,
		[TDH_INTYPE_FILETIME] = TDH_OUTTYPE_DATETIME,
		[TDH_INTYPE_SYSTEMTIME] = TDH_OUTTYPE_DATETIME,
		[TDH_INTYPE_SID] = TDH_OUTTYPE_STRING,
		[TDH_INTYPE_HEXINT32] = TDH_OUTTYPE_HEXINT32,
		[TDH_INTYPE_HEXINT64] = TDH_OUTTYPE_HEXINT64,
		[TDH_INTYPE_MANIFEST_COUNTEDSTRING] = TDH_OUTTYPE_STRING,
		[TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = TDH_OUTTYPE_STRING,
		[TDH_INTYPE_MANIFEST_COUNTEDBINARY] = TDH_OUTTYPE_HEXBINARY,
	};
	if (in < BASE_ARRAY_LEN(small)) {
		return small[in];
	}
	if (in == TDH_INTYPE_SIZET) {
		return TDH_OUTTYPE_HEXINT64;
	}
	return in == TDH_INTYPE_HEXDUMP ? TDH_OUTTYPE_HEXBINARY : TDH_OUTTYPE_STRING;
}

bool manifest_types_fit(uint16_t in, uint16_t out)
{
	return out == manifest_out_default(in) ||
	       (in < BASE_ARRAY_LEN(more_out_types) && out < 64 && (more_out_types[in] >> out & 1));
}
