/* SPDX-License-Identifier: MIT
 * Win32 codes: their names and texts, and the code of an errno. The rows are in err.def.
 */
#include "base/win32_error.h"

#include "base/base.h"

struct win32_row {
	uint32_t code;
	char name[40]; /* arrays: pointers would be written by the loader, in every process */
	char text[136];
};

static const struct win32_row rows[] = {
#define ERR_WIN32(code, name, text, meaning, cause, remedy) {code, name, text},
#define ERR_OTHER(code, name, meaning, cause, remedy)
#include "base/err.def"
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
	case EMFILE:
	case ENFILE: return 4;
	case EACCES:
	case EPERM:
	case EROFS: return 5;
	case EBADF: return 6;
	case ENOMEM: return 8;
	case EBADMSG:
	case EPROTO:
	case EILSEQ: return 13;
	case ETXTBSY: return 32;
	case EOPNOTSUPP:
	case ENOSYS: return 50;
	case EINVAL:
	case EFAULT: return 87;
	case ENOSPC:
	case EDQUOT: return 112;
	case ENAMETOOLONG: return 206;
	case EISDIR: return 161;
	case EBUSY: return 170;
	case EEXIST: return 183;
	case EMSGSIZE: return 234;
	case EOVERFLOW: return 534;
	case ESRCH: return 1168;
	case ECANCELED: return 1223;
	case EUCLEAN: return 1392;
	case EAGAIN:
	case EUSERS: return 1450;
	case ETIMEDOUT: return 1460;
	case ECONNREFUSED:
	case EPIPE:
	case ECONNRESET:
	case ENOTCONN: return 1726;
	case EIO: return 29;
	default: return 31;
	}
}
