/* SPDX-License-Identifier: MIT
 *
 * What every manifest may use without declaring it: levels, opcodes, keywords, channels, types.
 */
#include "schema/manifest.h"

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
		predefined[i] = (struct manifest_name){.name = rows[i].name,
						       .text = rows[i].text,
						       .value = rows[i].value,
						       .predefined = true};
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

const struct manifest_name *manifest_find(const struct manifest_provider *p,
					  enum manifest_kind kind, const char *name)
{
	for (const struct manifest_name *n = p->names[kind]; n; n = n->next) {
		if (strcmp(n->name, name) == 0 ||
		    (n->chid && strcmp(n->chid, name) == 0)) {
			return n;
		}
	}
	return manifest_predefined_by_name(kind, name);
}

const struct manifest_name *manifest_find_value(const struct manifest_provider *p,
						enum manifest_kind kind, uint64_t value,
						const struct manifest_name *task)
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
	{"UnicodeString", SCHEMA_IN_UNICODESTRING},
	{"AnsiString", SCHEMA_IN_ANSISTRING},
	{"Int8", SCHEMA_IN_INT8},
	{"UInt8", SCHEMA_IN_UINT8},
	{"Int16", SCHEMA_IN_INT16},
	{"UInt16", SCHEMA_IN_UINT16},
	{"Int32", SCHEMA_IN_INT32},
	{"UInt32", SCHEMA_IN_UINT32},
	{"Int64", SCHEMA_IN_INT64},
	{"UInt64", SCHEMA_IN_UINT64},
	{"Float", SCHEMA_IN_FLOAT},
	{"Double", SCHEMA_IN_DOUBLE},
	{"Boolean", SCHEMA_IN_BOOLEAN},
	{"Binary", SCHEMA_IN_BINARY},
	{"GUID", SCHEMA_IN_GUID},
	{"Pointer", SCHEMA_IN_POINTER},
	{"FILETIME", SCHEMA_IN_FILETIME},
	{"SYSTEMTIME", SCHEMA_IN_SYSTEMTIME},
	{"SID", SCHEMA_IN_SID},
	{"HexInt32", SCHEMA_IN_HEXINT32},
	{"HexInt64", SCHEMA_IN_HEXINT64},
	{"CountedUnicodeString", SCHEMA_IN_COUNTEDSTRING},
	{"CountedAnsiString", SCHEMA_IN_COUNTEDANSISTRING},
	{"CountedBinary", SCHEMA_IN_COUNTEDBINARY},
};
static const struct type_name out_types[] = {
	{"string", SCHEMA_OUT_STRING},
	{"dateTime", SCHEMA_OUT_DATETIME},
	{"byte", SCHEMA_OUT_BYTE},
	{"unsignedByte", SCHEMA_OUT_UNSIGNEDBYTE},
	{"short", SCHEMA_OUT_SHORT},
	{"unsignedShort", SCHEMA_OUT_UNSIGNEDSHORT},
	{"int", SCHEMA_OUT_INT},
	{"unsignedInt", SCHEMA_OUT_UNSIGNEDINT},
	{"long", SCHEMA_OUT_LONG},
	{"unsignedLong", SCHEMA_OUT_UNSIGNEDLONG},
	{"float", SCHEMA_OUT_FLOAT},
	{"double", SCHEMA_OUT_DOUBLE},
	{"boolean", SCHEMA_OUT_BOOLEAN},
	{"GUID", SCHEMA_OUT_GUID},
	{"hexBinary", SCHEMA_OUT_HEXBINARY},
	{"HexInt8", SCHEMA_OUT_HEXINT8},
	{"HexInt16", SCHEMA_OUT_HEXINT16},
	{"HexInt32", SCHEMA_OUT_HEXINT32},
	{"HexInt64", SCHEMA_OUT_HEXINT64},
	{"PID", SCHEMA_OUT_PID},
	{"TID", SCHEMA_OUT_TID},
	{"Port", SCHEMA_OUT_PORT},
	{"IPv4", SCHEMA_OUT_IPV4},
	{"IPv6", SCHEMA_OUT_IPV6},
	{"SocketAddress", SCHEMA_OUT_SOCKETADDRESS},
	{"CIMDateTime", SCHEMA_OUT_CIMDATETIME},
	{"ETWTIME", SCHEMA_OUT_ETWTIME},
	{"Xml", SCHEMA_OUT_XML},
	{"ErrorCode", SCHEMA_OUT_ERRORCODE},
	{"Win32Error", SCHEMA_OUT_WIN32ERROR},
	{"NTSTATUS", SCHEMA_OUT_NTSTATUS},
	{"HResult", SCHEMA_OUT_HRESULT},
	{"DateTimeCultureInsensitive", SCHEMA_OUT_CULTURE_INSENSITIVE_DATETIME},
	{"Json", SCHEMA_OUT_JSON},
	{"Utf8", SCHEMA_OUT_UTF8},
	{"Pkcs7WithTypeInfo", SCHEMA_OUT_PKCS7},
	{"CodePointer", SCHEMA_OUT_CODE_POINTER},
	{"DateTimeUtc", SCHEMA_OUT_DATETIME_UTC},
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

bool manifest_in_type(const char *name, uint16_t *ret)
{
	return find_type(in_types, BASE_ARRAY_LEN(in_types), name, ret);
}

bool manifest_out_type(const char *name, uint16_t *ret)
{
	return find_type(out_types, BASE_ARRAY_LEN(out_types), name, ret);
}

/* The out types of winmeta besides the default, as bits. */
#define BIT(x) (1ull << SCHEMA_OUT_##x)
#define TEXTS  (BIT(XML) | BIT(JSON))
#define DATES  (BIT(CULTURE_INSENSITIVE_DATETIME) | BIT(DATETIME_UTC))
#define CODES  (BIT(ERRORCODE) | BIT(WIN32ERROR) | BIT(NTSTATUS) | BIT(CODE_POINTER))
static const uint64_t more_out_types[] = {
	[SCHEMA_IN_UNICODESTRING] = TEXTS,
	[SCHEMA_IN_ANSISTRING] = TEXTS | BIT(UTF8),
	[SCHEMA_IN_COUNTEDSTRING] = TEXTS,
	[SCHEMA_IN_COUNTEDANSISTRING] = TEXTS | BIT(UTF8),
	[SCHEMA_IN_INT8] = BIT(STRING),
	[SCHEMA_IN_UINT8] = BIT(HEXINT8) | BIT(STRING) | BIT(BOOLEAN),
	[SCHEMA_IN_UINT16] = BIT(PORT) | BIT(HEXINT16) | BIT(STRING),
	[SCHEMA_IN_INT32] = BIT(HRESULT),
	[SCHEMA_IN_UINT32] =
		CODES | BIT(PID) | BIT(TID) | BIT(IPV4) | BIT(ETWTIME) | BIT(HEXINT32),
	[SCHEMA_IN_UINT64] = BIT(ETWTIME) | BIT(HEXINT64) | BIT(CODE_POINTER),
	[SCHEMA_IN_BINARY] = BIT(IPV6) | BIT(SOCKETADDRESS) | BIT(PKCS7),
	[SCHEMA_IN_COUNTEDBINARY] = BIT(IPV6) | BIT(SOCKETADDRESS) | BIT(PKCS7),
	[SCHEMA_IN_POINTER] = BIT(CODE_POINTER) | BIT(LONG) | BIT(UNSIGNEDLONG),
	[SCHEMA_IN_FILETIME] = DATES,
	[SCHEMA_IN_SYSTEMTIME] = DATES,
	[SCHEMA_IN_HEXINT32] = CODES,
	[SCHEMA_IN_HEXINT64] = BIT(CODE_POINTER),
};

bool manifest_types_fit(uint16_t in, uint16_t out)
{
	return out == schema_out_default(in) ||
	       (in < BASE_ARRAY_LEN(more_out_types) && out < 64 &&
		(more_out_types[in] >> out & 1));
}
