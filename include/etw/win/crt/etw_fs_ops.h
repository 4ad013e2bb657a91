/* SPDX-License-Identifier: MIT
 *
 * std::filesystem: operations on files. Each has a form that throws and one that gives an error_code; the
 * work is in a function that takes where the error goes. Read by <filesystem>.
 */
#ifndef ETW_CRT_ETW_FS_OPS_H
#define ETW_CRT_ETW_FS_OPS_H
#pragma GCC system_header
#if __cplusplus >= 201703L

#include "etw_fs_dir.h"

namespace std::filesystem
{
inline namespace etw16
{

#define ETW_FS_ONE(type, name)                         \
	inline type name(const path &p)                \
	{                                              \
		return etw_##name(p, nullptr);         \
	}                                              \
	inline type name(const path &p, error_code &e) \
	{                                              \
		return etw_##name(p, &e);              \
	}
#define ETW_FS_TWO(type, name)                                        \
	inline type name(const path &a, const path &b)                \
	{                                                             \
		return etw_##name(a, b, nullptr);                     \
	}                                                             \
	inline type name(const path &a, const path &b, error_code &e) \
	{                                                             \
		return etw_##name(a, b, &e);                          \
	}

/* ---- facts ------------------------------------------------------------------------------------ */

inline bool etw_stat(const path &p, etw_fs_stat *ret, const char *what, error_code *to)
{
	int err = etw_fs_stat_of(p.c_str(), true, ret);
	etw_report(to, err, what, p);
	return err == 0;
}
inline uintmax_t etw_file_size(const path &p, error_code *to)
{
	etw_fs_stat st;
	if (!etw_stat(p, &st, "cannot get file size", to)) {
		return uintmax_t(-1);
	}
	file_type t = etw_type_of(st.mode);
	if (t != file_type::regular) {
		etw_report(to, t == file_type::directory ? EISDIR : ENOTSUP, "cannot get file size", p);
		return uintmax_t(-1);
	}
	return st.size;
}
ETW_FS_ONE(uintmax_t, file_size)
inline uintmax_t etw_hard_link_count(const path &p, error_code *to)
{
	etw_fs_stat st;
	return etw_stat(p, &st, "cannot get link count", to) ? st.links : uintmax_t(-1);
}
ETW_FS_ONE(uintmax_t, hard_link_count)
inline file_time_type etw_last_write_time(const path &p, error_code *to)
{
	etw_fs_stat st;
	return etw_stat(p, &st, "cannot get file time", to) ? etw_file_time(st.seconds, st.nanoseconds)
							    : file_time_type::min();
}
ETW_FS_ONE(file_time_type, last_write_time)
inline void etw_set_time(const path &p, file_time_type t, error_code *to)
{
	int64_t ns = etw_unix_nanoseconds(t), rest = ns % 1000000000;
	rest += rest < 0 ? 1000000000 : 0;
	etw_report(to, etw_fs_utime(p.c_str(), (ns - rest) / 1000000000, rest), "cannot set file time", p);
}
inline void last_write_time(const path &p, file_time_type t)
{
	etw_set_time(p, t, nullptr);
}
inline void last_write_time(const path &p, file_time_type t, error_code &e) noexcept
{
	etw_set_time(p, t, &e);
}
inline bool etw_is_empty(const path &p, error_code *to)
{
	file_status s = etw_status(p, true, to);
	if (!is_directory(s)) {
		return status_known(s) && exists(s) && etw_file_size(p, to) == 0;
	}
	return !etw_open(p, directory_options::none, to);
}
ETW_FS_ONE(bool, is_empty)
inline bool etw_equivalent(const path &a, const path &b, error_code *to)
{
	etw_fs_stat x, y;
	int one = etw_fs_stat_of(a.c_str(), true, &x), two = etw_fs_stat_of(b.c_str(), true, &y);
	etw_report(to, one ? one : two, "cannot check file equivalence", a, b);
	return !one && !two && x.device == y.device && x.inode == y.inode;
}
ETW_FS_TWO(bool, equivalent)
inline space_info etw_space(const path &p, error_code *to)
{
	uint64_t v[3];
	int err = etw_fs_space(p.c_str(), v);
	etw_report(to, err, "cannot get free space", p);
	return err ? space_info{uintmax_t(-1), uintmax_t(-1), uintmax_t(-1)} : space_info{v[0], v[1], v[2]};
}
ETW_FS_ONE(space_info, space)

/* ---- names ------------------------------------------------------------------------------------ */

inline path etw_named(int (*ask)(wchar_t **), const char *what, error_code *to)
{
	wchar_t *s = nullptr;
	int err = ask(&s);
	path p = etw_take(s);
	etw_report(to, err, what, p);
	return p;
}
inline path current_path()
{
	return etw_named(etw_fs_getcwd, "cannot get current path", nullptr);
}
inline path current_path(error_code &e)
{
	return etw_named(etw_fs_getcwd, "cannot get current path", &e);
}
inline void current_path(const path &p)
{
	etw_report(nullptr, etw_fs_chdir(p.c_str()), "cannot set current path", p);
}
inline void current_path(const path &p, error_code &e) noexcept
{
	etw_report(&e, etw_fs_chdir(p.c_str()), "cannot set current path", p);
}
inline path etw_temp(error_code *to)
{
	path p = etw_named(etw_fs_temp, "temp_directory_path", to);
	file_status s = etw_status(p, true, to);
	if (!is_directory(s)) {
		etw_report(to, ENOTDIR, "temp_directory_path", p);
		p.clear();
	}
	return p;
}
inline path temp_directory_path()
{
	return etw_temp(nullptr);
}
inline path temp_directory_path(error_code &e)
{
	return etw_temp(&e);
}
inline path etw_absolute(const path &p, error_code *to)
{
	if (p.empty()) {
		etw_report(to, EINVAL, "cannot make absolute path", p);
		return path();
	}
	path base = p.is_absolute() ? path() : etw_named(etw_fs_getcwd, "cannot make absolute path", to);
	if (to && p.is_absolute()) {
		to->clear();
	}
	return p.is_absolute() ? p : base / p;
}
ETW_FS_ONE(path, absolute)
inline path etw_canonical(const path &p, error_code *to)
{
	wchar_t *s = nullptr;
	int err = etw_fs_realpath(p.c_str(), &s);
	path real = etw_take(s);
	etw_report(to, err, "cannot make canonical path", p);
	return real;
}
ETW_FS_ONE(path, canonical)
/* What is there canonical, the rest behind it. */
inline path etw_weakly_canonical(const path &p, error_code *to)
{
	path head, tail;
	bool missing = false;
	for (const path &part : p) {
		path next = head / part;
		error_code e;
		missing = missing || !exists(status(next, e));
		if (missing) {
			tail /= part;
		} else {
			head = next;
		}
	}
	if (to) {
		to->clear();
	}
	if (!head.empty()) {
		head = etw_canonical(head, to);
	}
	return (head / tail).lexically_normal();
}
ETW_FS_ONE(path, weakly_canonical)
inline path etw_relation(const path &p, const path &base, bool near, error_code *to)
{
	path a = etw_weakly_canonical(p, to);
	if (to && *to) {
		return path();
	}
	path b = etw_weakly_canonical(base, to);
	if (to && *to) {
		return path();
	}
	return near ? a.lexically_proximate(b) : a.lexically_relative(b);
}
inline path relative(const path &p, const path &base = current_path())
{
	return etw_relation(p, base, false, nullptr);
}
inline path relative(const path &p, const path &base, error_code &e)
{
	return etw_relation(p, base, false, &e);
}
inline path relative(const path &p, error_code &e)
{
	path base = current_path(e);
	return e ? path() : relative(p, base, e);
}
inline path proximate(const path &p, const path &base = current_path())
{
	return etw_relation(p, base, true, nullptr);
}
inline path proximate(const path &p, const path &base, error_code &e)
{
	return etw_relation(p, base, true, &e);
}
inline path proximate(const path &p, error_code &e)
{
	path base = current_path(e);
	return e ? path() : proximate(p, base, e);
}
inline path etw_read_symlink(const path &p, error_code *to)
{
	wchar_t *s = nullptr;
	int err = etw_fs_readlink(p.c_str(), &s);
	path target = etw_take(s);
	etw_report(to, err, "read_symlink", p);
	return target;
}
ETW_FS_ONE(path, read_symlink)

/* ---- making ----------------------------------------------------------------------------------- */

inline bool etw_create_directory(const path &p, error_code *to)
{
	int err = etw_fs_mkdir(p.c_str(), 0777);
	if (err == EEXIST) {
		error_code e;
		err = is_directory(p, e) ? 0 : err;
		etw_report(to, err, "cannot create directory", p);
		return false;
	}
	etw_report(to, err, "cannot create directory", p);
	return err == 0;
}
ETW_FS_ONE(bool, create_directory)
inline bool create_directory(const path &p, const path &like)
{
	etw_fs_stat st;
	etw_stat(like, &st, "cannot create directory", nullptr);
	return etw_create_directory(p, nullptr);
}
inline bool create_directory(const path &p, const path &like, error_code &e) noexcept
{
	etw_fs_stat st;
	return etw_stat(like, &st, "cannot create directory", &e) && etw_create_directory(p, &e);
}
inline bool etw_create_directories(const path &p, error_code *to)
{
	path so_far;
	bool made = false;
	if (p.empty()) {
		etw_report(to, ENOENT, "cannot create directories", p);
		return false;
	}
	if (to) {
		to->clear();
	}
	for (const path &part : p) {
		so_far /= part;
		error_code e;
		if (part.empty() || part == L"." || part == L".." || is_directory(so_far, e)) {
			continue;
		}
		made = etw_create_directory(so_far, to);
		if (to && *to) {
			return false;
		}
	}
	return made;
}
ETW_FS_ONE(bool, create_directories)
inline void etw_create_symlink(const path &a, const path &b, error_code *to)
{
	etw_report(to, etw_fs_symlink(a.c_str(), b.c_str()), "cannot create symlink", a, b);
}
ETW_FS_TWO(void, create_symlink)
inline void etw_create_directory_symlink(const path &a, const path &b, error_code *to)
{
	etw_create_symlink(a, b, to);
}
ETW_FS_TWO(void, create_directory_symlink)
inline void etw_create_hard_link(const path &a, const path &b, error_code *to)
{
	etw_report(to, etw_fs_link(a.c_str(), b.c_str()), "cannot create hard link", a, b);
}
ETW_FS_TWO(void, create_hard_link)

/* ---- changing --------------------------------------------------------------------------------- */

inline void etw_rename(const path &a, const path &b, error_code *to)
{
	etw_report(to, etw_fs_rename(a.c_str(), b.c_str()), "cannot rename", a, b);
}
ETW_FS_TWO(void, rename)
inline void etw_resize(const path &p, uintmax_t size, error_code *to)
{
	etw_report(to, etw_fs_truncate(p.c_str(), size), "cannot resize file", p);
}
inline void resize_file(const path &p, uintmax_t size)
{
	etw_resize(p, size, nullptr);
}
inline void resize_file(const path &p, uintmax_t size, error_code &e) noexcept
{
	etw_resize(p, size, &e);
}
inline void etw_permissions(const path &p, perms to_be, perm_options o, error_code *to)
{
	bool add = etw_has(o, perm_options::add), take = etw_has(o, perm_options::remove);
	bool follow = !etw_has(o, perm_options::nofollow);
	if (add || take) {
		file_status s = etw_status(p, follow, to);
		if (!exists(s)) {
			etw_report(to, ENOENT, "cannot set permissions", p);
			return;
		}
		to_be = add ? s.permissions() | to_be : s.permissions() & ~to_be;
	}
	unsigned mode = unsigned(to_be & perms::mask);
	/* A link itself has no permissions here. */
	error_code e;
	follow = follow || !is_symlink(p, e);
	etw_report(to, etw_fs_chmod(p.c_str(), mode, follow), "cannot set permissions", p);
}
inline void permissions(const path &p, perms v, perm_options o = perm_options::replace)
{
	etw_permissions(p, v, o, nullptr);
}
inline void permissions(const path &p, perms v, error_code &e) noexcept
{
	etw_permissions(p, v, perm_options::replace, &e);
}
inline void permissions(const path &p, perms v, perm_options o, error_code &e)
{
	etw_permissions(p, v, o, &e);
}
inline bool etw_remove(const path &p, error_code *to)
{
	int err = etw_fs_remove(p.c_str());
	etw_report(to, err == ENOENT ? 0 : err, "cannot remove", p);
	return err == 0;
}
ETW_FS_ONE(bool, remove)
inline uintmax_t etw_remove_all(const path &p, error_code *to)
{
	uintmax_t n = 0;
	file_status s = etw_status(p, false, to);
	if (to && s.type() == file_type::not_found) {
		to->clear();
	}
	if (!exists(s)) {
		return to && *to ? uintmax_t(-1) : 0;
	}
	if (is_directory(s)) {
		/* Names first: the folder changes. */
		std::vector<path> inner;
		for (auto f = etw_open(p, directory_options::none, to); f;) {
			int err = 0;
			inner.push_back(f->at.path());
			if (!f->next(&err)) {
				break;
			}
		}
		for (const path &x : inner) {
			uintmax_t k = to && *to ? uintmax_t(-1) : etw_remove_all(x, to);
			if (k == uintmax_t(-1)) {
				return k;
			}
			n += k;
		}
	}
	if (to && *to) {
		return uintmax_t(-1);
	}
	n += etw_remove(p, to);
	return to && *to ? uintmax_t(-1) : n;
}
ETW_FS_ONE(uintmax_t, remove_all)

/* ---- copying ---------------------------------------------------------------------------------- */

inline bool etw_copy_file(const path &a, const path &b, copy_options o, error_code *to)
{
	etw_fs_stat x, y;
	int err = etw_fs_stat_of(a.c_str(), true, &x);
	if (!err && etw_type_of(x.mode) != file_type::regular) {
		err = EINVAL;
	}
	int there = etw_fs_stat_of(b.c_str(), true, &y);
	if (!err && !there) {
		bool same = x.device == y.device && x.inode == y.inode;
		bool newer = x.seconds > y.seconds || (x.seconds == y.seconds && x.nanoseconds > y.nanoseconds);
		if (etw_has(o, copy_options::skip_existing) ||
		    (etw_has(o, copy_options::update_existing) && !same && !newer)) {
			etw_report(to, 0, "cannot copy file", a, b);
			return false;
		}
		bool replace =
			etw_has(o, copy_options::overwrite_existing) || etw_has(o, copy_options::update_existing);
		err = same || !replace || etw_type_of(y.mode) != file_type::regular ? EEXIST : 0;
	}
	err = err ? err : etw_fs_copy(a.c_str(), b.c_str(), !there);
	etw_report(to, err, "cannot copy file", a, b);
	return err == 0;
}
inline bool copy_file(const path &a, const path &b, copy_options o)
{
	return etw_copy_file(a, b, o, nullptr);
}
inline bool copy_file(const path &a, const path &b, copy_options o, error_code &e)
{
	return etw_copy_file(a, b, o, &e);
}
inline bool copy_file(const path &a, const path &b)
{
	return etw_copy_file(a, b, copy_options::none, nullptr);
}
inline bool copy_file(const path &a, const path &b, error_code &e)
{
	return etw_copy_file(a, b, copy_options::none, &e);
}
inline void etw_copy_symlink(const path &a, const path &b, error_code *to)
{
	path target = etw_read_symlink(a, to);
	if (!(to && *to)) {
		etw_create_symlink(target, b, to);
	}
}
ETW_FS_TWO(void, copy_symlink)
inline void etw_copy(const path &a, const path &b, copy_options o, error_code *to, int depth = 0)
{
	bool links =
		etw_has(o, copy_options::create_symlinks | copy_options::copy_symlinks | copy_options::skip_symlinks);
	file_status f = etw_status(a, !links, to), t = etw_status(b, !links, nullptr);
	if (!exists(f) || (exists(t) && is_directory(f) && !is_directory(t)) || is_other(f) || is_other(t)) {
		etw_report(to,
			   !exists(f)                   ? ENOENT
			   : is_other(f) || is_other(t) ? ENOTSUP
							: ENOTDIR,
			   "cannot copy", a, b);
	} else if (is_symlink(f)) {
		if (etw_has(o, copy_options::skip_symlinks)) {
			etw_report(to, 0, "cannot copy", a, b);
		} else if (!exists(t) && etw_has(o, copy_options::copy_symlinks)) {
			etw_copy_symlink(a, b, to);
		} else {
			etw_report(to, EEXIST, "cannot copy", a, b);
		}
	} else if (is_regular_file(f)) {
		if (etw_has(o, copy_options::directories_only)) {
			etw_report(to, 0, "cannot copy", a, b);
		} else if (etw_has(o, copy_options::create_symlinks)) {
			etw_create_symlink(a, b, to);
		} else if (etw_has(o, copy_options::create_hard_links)) {
			etw_create_hard_link(a, b, to);
		} else {
			etw_copy_file(a, is_directory(t) ? b / a.filename() : b, o, to);
		}
	} else if (is_directory(f) && etw_has(o, copy_options::create_symlinks)) {
		etw_report(to, EISDIR, "cannot copy", a, b);
	} else if (is_directory(f) &&
		   (etw_has(o, copy_options::recursive) || (o == copy_options::none && depth == 0))) {
		if (!exists(t)) {
			etw_create_directory(b, to);
		}
		std::vector<path> inner;
		for (auto d = to && *to ? nullptr : etw_open(a, directory_options::none, to); d;) {
			int err = 0;
			inner.push_back(d->at.path());
			if (!d->next(&err)) {
				break;
			}
		}
		for (const path &x : inner) {
			error_code ignored;
			if (to && *to) {
				return;
			}
			/* Without "recursive" the folders in it stay where they are. */
			if (!etw_has(o, copy_options::recursive) && is_directory(x, ignored)) {
				continue;
			}
			etw_copy(x, b / x.filename(), o, to, depth + 1);
		}
	}
}
inline void copy(const path &a, const path &b, copy_options o = copy_options::none)
{
	etw_copy(a, b, o, nullptr);
}
inline void copy(const path &a, const path &b, error_code &e)
{
	e.clear();
	etw_copy(a, b, copy_options::none, &e);
}
inline void copy(const path &a, const path &b, copy_options o, error_code &e)
{
	e.clear();
	etw_copy(a, b, o, &e);
}
#undef ETW_FS_ONE
#undef ETW_FS_TWO
} // namespace etw16
} // namespace std::filesystem
#endif
#endif
