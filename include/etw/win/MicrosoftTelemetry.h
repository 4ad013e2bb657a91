/* SPDX-License-Identifier: MIT
 *
 * Public sources of Microsoft's programs mark their TraceLogging providers and events with these names.
 * Nothing is sent anywhere here: a provider is a member of the group, an event has the keyword and the
 * field, for whoever traces it.
 */
#ifndef ETW_WIN_MICROSOFTTELEMETRY_H
#define ETW_WIN_MICROSOFTTELEMETRY_H

#include "../TraceLoggingProvider.h"

#define TraceLoggingOptionMicrosoftTelemetry() \
	TraceLoggingOptionGroup(0x4f50731a, 0x89cf, 0x4782, 0xb3, 0xe0, 0xdc, 0xe8, 0xc9, 0x04, 0x76, 0xba)
#define TraceLoggingOptionWindowsCoreTelemetry() \
	TraceLoggingOptionGroup(0xc7de053a, 0x0c2e, 0x4a44, 0x91, 0xa2, 0x52, 0x22, 0xec, 0x2e, 0xcd, 0xf1)
#define TraceLoggingOptionMicrosoftPartnerTelemetry() TraceLoggingOptionMicrosoftTelemetry()

/* Keywords of events. */
#define MICROSOFT_KEYWORD_CRITICAL_DATA         0x0000800000000000
#define MICROSOFT_KEYWORD_MEASURES              0x0000400000000000
#define MICROSOFT_KEYWORD_TELEMETRY             0x0000200000000000
#define MICROSOFT_KEYWORD_RESERVED_44           0x0000100000000000
#define MICROSOFT_EVENTTAG_DROP_PII             0x02000000
#define MICROSOFT_EVENTTAG_HASH_PII             0x04000000
#define MICROSOFT_EVENTTAG_MARK_PII             0x08000000
#define MICROSOFT_EVENTTAG_CORE_DATA            0x00080000
#define MICROSOFT_EVENTTAG_INJECT_XTOKEN        0x00100000
#define MICROSOFT_EVENTTAG_REALTIME_LATENCY     0x00200000
#define MICROSOFT_EVENTTAG_NORMAL_LATENCY       0x00400000
#define MICROSOFT_EVENTTAG_COSTDEFERRED_LATENCY 0x00040000
#define MICROSOFT_EVENTTAG_NORMAL_PERSISTENCE   0x01000000
#define MICROSOFT_EVENTTAG_CRITICAL_PERSISTENCE 0x00800000
#define MICROSOFT_EVENTTAG_DROP_PII_EXCEPT_IP   0x00020000
#define MICROSOFT_EVENTTAG_AGGREGATE            0x00010000
#define MICROSOFT_EVENTTAG_DROP_USER_IDS        0x00008000

/* Kinds of data in an event, as the sum that its field tells. */
#define PDT_BrowsingHistory                    0x0000000000000002u
#define PDT_DeviceConnectivityAndConfiguration 0x0000000000000800u
#define PDT_InkingTypingAndSpeechUtterance     0x0000000000020000u
#define PDT_ProductAndServicePerformance       0x0000000001000000u
#define PDT_ProductAndServiceUsage             0x0000000002000000u
#define PDT_SoftwareSetupAndInventory          0x0000000080000000u
#define TelemetryPrivacyDataTag(tag)           TraceLoggingUInt64((tag), "PartA_PrivTags")

#endif
