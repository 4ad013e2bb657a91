/* SPDX-License-Identifier: MIT
 * Error codes: errno inside, Win32 at the border.
 */
#include "base/printable.h"


struct win32_row {
	uint32_t code;
	char name[40]; /* arrays: pointers would be written by the loader, in every process */
	char text[136];
};

static const struct win32_row rows[] = {
	{0, "ERROR_SUCCESS", "The operation completed successfully."},
	{1, "ERROR_INVALID_FUNCTION", "Incorrect function."},
	{2, "ERROR_FILE_NOT_FOUND", "The system cannot find the file specified."},
	{3, "ERROR_PATH_NOT_FOUND", "The system cannot find the path specified."},
	{4, "ERROR_TOO_MANY_OPEN_FILES", "The system cannot open the file."},
	{5, "ERROR_ACCESS_DENIED", "Access is denied."},
	{6, "ERROR_INVALID_HANDLE", "The handle is invalid."},
	{8, "ERROR_NOT_ENOUGH_MEMORY", "Not enough memory resources are available to process this command."},
	{13, "ERROR_INVALID_DATA", "The data is invalid."},
	{14, "ERROR_OUTOFMEMORY", "Not enough memory resources are available to complete this operation."},
	{24, "ERROR_BAD_LENGTH", "The program issued a command but the command length is incorrect."},
	{29, "ERROR_WRITE_FAULT", "The system cannot write to the specified device."},
	{31, "ERROR_GEN_FAILURE", "A device attached to the system is not functioning."},
	{32, "ERROR_SHARING_VIOLATION", "The process cannot access the file because it is being used by another process."},
	{50, "ERROR_NOT_SUPPORTED", "The request is not supported."},
	{80, "ERROR_FILE_EXISTS", "The file exists."},
	{87, "ERROR_INVALID_PARAMETER", "The parameter is incorrect."},
	{112, "ERROR_DISK_FULL", "There is not enough space on the disk."},
	{120, "ERROR_CALL_NOT_IMPLEMENTED", "This function is not supported on this system."},
	{122, "ERROR_INSUFFICIENT_BUFFER", "The data area passed to a system call is too small."},
	{123, "ERROR_INVALID_NAME", "The filename, directory name, or volume label syntax is incorrect."},
	{161, "ERROR_BAD_PATHNAME", "The specified path is invalid."},
	{170, "ERROR_BUSY", "The requested resource is in use."},
	{183, "ERROR_ALREADY_EXISTS", "Cannot create a file when that file already exists."},
	{186, "ERROR_INVALID_FLAG_NUMBER", "The flag passed is not correct."},
	{206, "ERROR_FILENAME_EXCED_RANGE", "The filename or extension is too long."},
	{234, "ERROR_MORE_DATA", "More data is available."},
	{534, "ERROR_ARITHMETIC_OVERFLOW", "Arithmetic result exceeded 32 bits."},
	{998, "ERROR_NOACCESS", "Invalid access to memory location."},
	{1004, "ERROR_INVALID_FLAGS", "Invalid flags."},
	{1168, "ERROR_NOT_FOUND", "Element not found."},
	{1223, "ERROR_CANCELLED", "The operation was canceled by the user."},
	{1392, "ERROR_FILE_CORRUPT", "The file or directory is corrupted and unreadable."},
	{1450, "ERROR_NO_SYSTEM_RESOURCES", "Insufficient system resources exist to complete the requested service."},
	{1460, "ERROR_TIMEOUT", "This operation returned because the timeout period expired."},
	{1465, "ERROR_XML_PARSE_ERROR", "Unable to parse the requested XML data."},
	{1726, "RPC_S_CALL_FAILED", "The remote procedure call failed."},
	{1901, "ERROR_INVALID_TIME", "The specified time is invalid."},
	{2402, "ERROR_ACTIVE_CONNECTIONS", "Active connections still exist."},
	{4200, "ERROR_WMI_GUID_NOT_FOUND", "The GUID passed was not recognized as valid by a WMI data provider."},
	{4201, "ERROR_WMI_INSTANCE_NOT_FOUND", "The instance name passed was not recognized as valid by a WMI data provider."},
	{4208, "ERROR_WMI_SERVER_UNAVAILABLE", "The WMI service is not available."},
	{4306, "ERROR_EMPTY", "The library, drive, or media pool is empty."},
	{5007, "ERROR_RESOURCE_NOT_FOUND", "The cluster resource could not be found."},
	{7007, "ERROR_CTX_CLOSE_PENDING", "A close operation is pending on the session."},
	{15005, "ERROR_EVT_INVALID_EVENT_DATA", "The event data raised by the publisher is not compatible with the event template definition in the publisher's manifest."},
};

static const struct win32_row *find(uint32_t code)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (rows[i].code == code) {
			return &rows[i];
		}
	}
	return NULL;
}

const char *win32_text(uint32_t code)
{
	const struct win32_row *r = find(code);
	return r ? r->text : NULL;
}

const char *win32_name(uint32_t code)
{
	const struct win32_row *r = find(code);
	return r ? r->name : NULL;
}

uint32_t win32_from_errno(int err)
{
	switch (err < 0 ? -err : err) {
	case 0: return 0;
	case ENOENT: return 2;
	case ENOTDIR: return 3;
	case EMFILE: case ENFILE: return 4;
	case EACCES: case EPERM: case EROFS: return 5;
	case EBADF: return 6;
	case ENOMEM: return 8;
	case EBADMSG: case EPROTO: case EILSEQ: return 13;
	case ETXTBSY: return 32;
	case EOPNOTSUPP: case ENOSYS: return 50;
	case EINVAL: case EFAULT: return 87;
	case ENOSPC: case EDQUOT: return 112;
	case ENAMETOOLONG: return 206;
	case EISDIR: return 161;
	case EBUSY: return 170;
	case EEXIST: return 183;
	case EMSGSIZE: return 234;
	case EOVERFLOW: return 534;
	case ESRCH: return 1168;
	case ECANCELED: return 1223;
	case EUCLEAN: return 1392;
	case EAGAIN: case EUSERS: return 1450;
	case ETIMEDOUT: return 1460;
	case ECONNREFUSED: case EPIPE: case ECONNRESET: case ENOTCONN: return 1726;
	case EIO: return 29;
	default: return 31;
	}
}

void diag_at(struct diag *d, uint64_t offset, const char *fmt, ...)
{
	if (!d || d->text[0]) {
		return;
	}
	d->offset = offset;
	va_list ap;
	va_start(ap, fmt);
	printable_vformat(d->text, sizeof d->text, fmt, ap);
	va_end(ap);
}

void diag_clear(struct diag *d)
{
	/* Readers clear one for each record: not the whole text. */
	d->offset = UINT64_MAX;
	d->line = d->column = 0;
	d->text[0] = 0;
}
