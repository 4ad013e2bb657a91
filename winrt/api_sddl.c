/* SPDX-License-Identifier: MIT
 *
 * Security descriptors as text.
 */
#include "winrt/win.h"

#include "win/sddl.h"
#include "win/windows.h"

#include <stdlib.h>

/* A self-relative descriptor: revision, control, offsets of owner, group, SACL and DACL. */
#define SD_BYTES         20
#define SD_SELF_RELATIVE 0x8000
#define SD_DACL_PRESENT  0x0004

static void put_sid(struct win_sink *s, const uint8_t *sid)
{
	static const struct {
		const char *text, *alias;
	} known[] = {{"S-1-1-0", "WD"},      {"S-1-5-18", "SY"},     {"S-1-5-19", "LS"},     {"S-1-5-20", "NS"},
		     {"S-1-5-32-544", "BA"}, {"S-1-5-32-545", "BU"}, {"S-1-5-32-558", "MU"}, {"S-1-5-32-559", "LU"},
		     {"S-1-5-11", "AU"},     {"S-1-5-4", "IU"},      {"S-1-3-0", "CO"},      {"S-1-5-10", "PS"}};
	LPSTR text;
	if (!ConvertSidToStringSidA((PSID)sid, &text)) {
		s->failed = true;
		return;
	}
	const char *show = text;
	for (size_t i = 0; i < BASE_ARRAY_LEN(known); i++) {
		show = strcmp(text, known[i].text) == 0 ? known[i].alias : show;
	}
	win_sink_utf8(s, show, strlen(show));
	LocalFree(text);
}

static void put_text(struct win_sink *s, const char *text)
{
	win_sink_utf8(s, text, strlen(text));
}

/* Access and audit entries of the plain types; the others have no text of two parts. */
static void put_acl(struct win_sink *s, const char *name, const uint8_t *acl)
{
	const char *p = (const char *)acl;
	unsigned count = le16_get(p + 4);
	char text[64];
	put_text(s, name);
	for (unsigned i = 0, at = 8; i < count; i++) {
		unsigned type = acl[at], flags = acl[at + 1], bytes = le16_get(p + at + 2);
		if (bytes < 16) {
			s->failed = true;
			return;
		}
		if (type <= 2) {
			snprintf(text, sizeof text, "(%s;%s%s%s%s%s%s;0x%x;;;",
				 type == 0   ? "A"
				 : type == 1 ? "D"
					     : "AU",
				 flags & 2 ? "CI" : "", flags & 1 ? "OI" : "", flags & 4 ? "NP" : "",
				 flags & 8 ? "IO" : "", flags & 0x40 ? "SA" : "", flags & 0x80 ? "FA" : "",
				 le32_get(p + at + 4));
			put_text(s, text);
			put_sid(s, acl + at + 8);
			put_text(s, ")");
		}
		at += bytes;
	}
}

static bool describe(struct win_sink *s, const uint8_t *sd, SECURITY_INFORMATION parts)
{
	const char *p = (const char *)sd;
	if (!sd || sd[0] != 1 || !(le16_get(p + 2) & SD_SELF_RELATIVE)) {
		SetLastError(ERROR_INVALID_SECURITY_DESCR);
		return false;
	}
	uint32_t owner = le32_get(p + 4), group = le32_get(p + 8), sacl = le32_get(p + 12), dacl = le32_get(p + 16);
	if ((parts & OWNER_SECURITY_INFORMATION) && owner >= SD_BYTES) {
		put_text(s, "O:");
		put_sid(s, sd + owner);
	}
	if ((parts & GROUP_SECURITY_INFORMATION) && group >= SD_BYTES) {
		put_text(s, "G:");
		put_sid(s, sd + group);
	}
	if ((parts & DACL_SECURITY_INFORMATION) && (le16_get(p + 2) & SD_DACL_PRESENT)) {
		if (dacl >= SD_BYTES) {
			put_acl(s, "D:", sd + dacl);
		} else {
			put_text(s, "D:NO_ACCESS_CONTROL");
		}
	}
	if ((parts & SACL_SECURITY_INFORMATION) && sacl >= SD_BYTES) {
		put_acl(s, "S:", sd + sacl);
	}
	if (s->failed) {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	}
	return !s->failed;
}

/* The grown memory of the sink, with a terminator, is what LocalFree frees. */
static void *text_of(PSECURITY_DESCRIPTOR sd, DWORD revision, SECURITY_INFORMATION parts, bool wide, PULONG ret_len)
{
	struct win_sink s = {.wide = wide, .grow = true};
	if (revision != SDDL_REVISION_1) {
		SetLastError(ERROR_UNKNOWN_REVISION);
		return NULL;
	}
	bool ok = describe(&s, sd, parts);
	size_t n = s.count;
	win_sink_unit(&s, 0);
	if (!ok || s.failed) {
		free(s.buf);
		return NULL;
	}
	if (ret_len) {
		*ret_len = (ULONG)n;
	}
	return s.buf;
}

BOOL WINAPI ConvertSecurityDescriptorToStringSecurityDescriptorW(PSECURITY_DESCRIPTOR SecurityDescriptor,
								 DWORD RequestedStringSDRevision,
								 SECURITY_INFORMATION SecurityInformation,
								 LPWSTR *StringSecurityDescriptor,
								 PULONG StringSecurityDescriptorLen)
{
	WCHAR *text = text_of(SecurityDescriptor, RequestedStringSDRevision, SecurityInformation, true,
			      StringSecurityDescriptorLen);
	if (text) {
		*StringSecurityDescriptor = text;
	}
	return text != NULL;
}
BOOL WINAPI ConvertSecurityDescriptorToStringSecurityDescriptorA(PSECURITY_DESCRIPTOR SecurityDescriptor,
								 DWORD RequestedStringSDRevision,
								 SECURITY_INFORMATION SecurityInformation,
								 LPSTR *StringSecurityDescriptor,
								 PULONG StringSecurityDescriptorLen)
{
	char *text = text_of(SecurityDescriptor, RequestedStringSDRevision, SecurityInformation, false,
			     StringSecurityDescriptorLen);
	if (text) {
		*StringSecurityDescriptor = text;
	}
	return text != NULL;
}
