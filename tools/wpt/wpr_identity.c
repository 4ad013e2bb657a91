/* SPDX-License-Identifier: MIT
 * BuildInfo: which system a recording was made on, as the event that merging adds on Windows.
 */
#include "tools/common/session_options.h"
#include "base/order.h"
#include "etw/values/guids.h"
#include "kernel_payload.h"
#include "tools/wpt/wpr.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define IDENTITY_WAIT_MS  3000
#define IDENTITY_TEXT_MAX 256

/* SystemConfigEx of the merge's catalogue (data/catalogue/merge.txt). */
#define GUID_OF(...) GUID_OF_PARTS(__VA_ARGS__)
#define GUID_OF_PARTS(a, b, c, ...) \
	{                           \
		a, b, c,            \
		{                   \
			__VA_ARGS__ \
		}                   \
	}
static const GUID config_guid = GUID_OF(ETW_GUID_CLASS_SYSTEM_CONFIG_EX);

static uint64_t logger; /* written by the callback's thread */

static ULONG WINAPI enabled(WMIDPREQUESTCODE code, PVOID ctx, ULONG *bytes, PVOID header)
{
	(void)ctx;
	(void)bytes;
	if (code == WMI_ENABLE_EVENTS) {
		order_store_release(&logger, GetTraceLoggerHandle(header));
	}
	return ERROR_SUCCESS;
}

/* PRETTY_NAME of os-release. */
static void product_name(char *out, size_t cap)
{
	char line[IDENTITY_TEXT_MAX];
	snprintf(out, cap, "Linux");
	FILE *f = fopen("/etc/os-release", "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, "PRETTY_NAME=", 12) == 0) {
			char *s = line + 12;
			s += *s == '"';
			s[strcspn(s, "\"\n")] = 0;
			snprintf(out, cap, "%s", s);
		}
	}
	if (f) {
		fclose(f);
	}
}

/* When the machine was set up, as far as the file system knows. */
static uint64_t install_date(void)
{
	struct stat st;
	if (stat("/etc/machine-id", &st) < 0 && stat("/", &st) < 0) {
		return 0;
	}
	return ((uint64_t)st.st_mtim.tv_sec + 11644473600u) * 10000000u;
}

static size_t put_text(uint8_t *out, const char *text)
{
	uint16_t wide[IDENTITY_TEXT_MAX];
	long n = utf8_to_utf16(text, strlen(text), wide, IDENTITY_TEXT_MAX - 1);
	n = n < 0 ? 0 : BASE_MIN(n, (long)IDENTITY_TEXT_MAX - 1);
	wide[n] = 0;
	memcpy(out, wide, 2 * ((size_t)n + 1));
	return 2 * ((size_t)n + 1);
}

static void write_event(uint64_t handle)
{
	struct {
		EVENT_TRACE_HEADER header;
		uint8_t payload[8 + 4 * IDENTITY_TEXT_MAX];
	} event;
	struct utsname u;
	char lab[IDENTITY_TEXT_MAX], product[IDENTITY_TEXT_MAX];
	uint64_t date = install_date();
	memset(&event, 0, sizeof event);
	memset(&u, 0, sizeof u);
	uname(&u);
	snprintf(lab, sizeof lab, "%.60s.%.60s.%.100s", u.release, u.machine, u.version);
	product_name(product, sizeof product);
	memcpy(event.payload, &date, 8);
	size_t n = 8;
	n += put_text(event.payload + n, lab);
	n += put_text(event.payload + n, product);
	event.header.Size = (USHORT)(sizeof event.header + n);
	event.header.Flags = WNODE_FLAG_TRACED_GUID;
	event.header.Class.Type = KP_SYSTEM_CONFIG_EX_BUILD_INFO;
	event.header.Guid = config_guid;
	TraceEvent(handle, &event.header);
}

void wpr_identity_write(struct wpr *w)
{
	const struct profile_word *e = w->profile->custom_events;
	struct profile_collector *c = w->profile->collectors;
	struct cli_props p;
	char name[512];
	while (e && strcasecmp(e->text, "BuildInfo") != 0) {
		e = e->next;
	}
	while (c && !wpr_recorded(c)) {
		c = c->next;
	}
	if (!e || !c) {
		return;
	}
	wpr_session_name(w->instance, c, name, sizeof name);
	if (cli_session_query(name, &p) != ERROR_SUCCESS ||
	    EnableTraceEx2(p.p.Wnode.HistoricalContext, &config_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0,
			   NULL) != ERROR_SUCCESS) {
		return;
	}
	TRACE_GUID_REGISTRATION guid = {.Guid = &config_guid};
	TRACEGUID_HANDLE registration;
	setenv("OPENETW_WAIT_MS", "3000", 0);
	if (RegisterTraceGuidsA(enabled, NULL, &config_guid, 1, &guid, NULL, NULL, &registration) != ERROR_SUCCESS) {
		return;
	}
	for (int ms = 0; ms < IDENTITY_WAIT_MS && !order_load_acquire(&logger); ms += 10) {
		usleep(10000);
	}
	uint64_t handle = order_load_acquire(&logger);
	if (handle) {
		write_event(handle);
	}
	UnregisterTraceGuids(registration);
}
