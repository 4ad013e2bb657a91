/* SPDX-License-Identifier: MIT
 *
 * Loading manifests.
 */
#include "schema/schema_tdh.h"

#include <stdlib.h>
#include <unistd.h>

/* Windows takes MAX_PATH; a Linux path may be longer. */
static ULONG take_path(PWSTR path, struct openetw_text *ret)
{
	if (!path || !*path) {
		return ERROR_INVALID_PARAMETER;
	}
	schema_tdh_utf8(path, ret);
	return ret->failed ? ERROR_OUTOFMEMORY : ERROR_SUCCESS;
}

static ULONG status_of(int err, ULONG malformed)
{
	return err == 0          ? ERROR_SUCCESS
	       : err == -EBADMSG ? malformed
	       : err == -ENOENT  ? ERROR_FILE_NOT_FOUND
				 : win32_from_errno(err);
}

TDHSTATUS TDHAPI TdhLoadManifest(PWSTR Manifest)
{
	struct openetw_text path = {0};
	ULONG status = take_path(Manifest, &path);
	if (status == ERROR_SUCCESS) {
		status = status_of(schema_process_load_file(path.data, NULL), ERROR_XML_PARSE_ERROR);
	}
	openetw_text_free(&path);
	return status;
}

TDHSTATUS TDHAPI TdhUnloadManifest(PWSTR Manifest)
{
	struct openetw_text path = {0};
	ULONG status = take_path(Manifest, &path);
	if (status == ERROR_SUCCESS) {
		status = status_of(schema_process_drop_manifest(path.data), ERROR_XML_PARSE_ERROR);
	}
	openetw_text_free(&path);
	return status;
}

/* A manifest in memory is known by its content. */
static void memory_key(const void *data, ULONG n, char key[48])
{
	uint8_t digest[20];
	static const char digits[] = "0123456789abcdef";
	sha1(data, n, digest);
	memcpy(key, "memory:", 7);
	for (int i = 0; i < 20; i++) {
		key[7 + 2 * i] = digits[digest[i] >> 4];
		key[8 + 2 * i] = digits[digest[i] & 15];
	}
	key[47] = 0;
}

TDHSTATUS TDHAPI TdhLoadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	struct manifest m;
	char key[48];
	if (!pData || cbData == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	const uint8_t *p = pData;
	bool crim = cbData >= 4 && memcmp(p, "CRIM", 4) == 0;
	int err = crim ? manifest_read_binary(p, cbData, NULL, NULL, &m, NULL) : manifest_read_xml(p, cbData, &m, NULL);
	memory_key(pData, cbData, key);
	if (err == 0) {
		err = schema_process_take_manifest(&m, SCHEMA_SOURCE_XML, key);
	}
	return status_of(err, crim ? ERROR_RESOURCE_NOT_FOUND : ERROR_XML_PARSE_ERROR);
}

TDHSTATUS TDHAPI TdhUnloadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	char key[48];
	if (!pData || cbData == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	memory_key(pData, cbData, key);
	return schema_process_drop_manifest(key) == 0 ? ERROR_SUCCESS : ERROR_NOT_FOUND;
}

TDHSTATUS TDHAPI TdhLoadManifestFromBinary(PWSTR BinaryPath)
{
	struct openetw_text path = {0};
	ULONG status = take_path(BinaryPath, &path);
	if (status == ERROR_SUCCESS && access(path.data, R_OK) != 0) {
		status = ERROR_FILE_NOT_FOUND;
	} else if (status == ERROR_SUCCESS) {
		/* What is no PE file (an ELF one, say) has no such resource. */
		int err = schema_process_load_file(path.data, NULL);
		status = err == -ENOENT ? ERROR_RESOURCE_NOT_FOUND : status_of(err, ERROR_RESOURCE_NOT_FOUND);
	}
	openetw_text_free(&path);
	return status;
}
