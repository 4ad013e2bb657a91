/* SPDX-License-Identifier: MIT
 *
 * std::filesystem: what operations take and give. Read by <filesystem>.
 */
#ifndef ETW_CRT_ETW_FS_TYPES_H
#define ETW_CRT_ETW_FS_TYPES_H
#pragma GCC system_header
#if __cplusplus >= 201703L

#include <chrono>
#include <memory>
#include <string>
#include <system_error>

#include "etw_fs_native.h"
#include "etw_fs_path.h"

namespace std::filesystem
{
inline namespace etw16
{

enum class file_type : signed char {
	none = 0,
	not_found = -1,
	regular = 1,
	directory = 2,
	symlink = 3,
	block = 4,
	character = 5,
	fifo = 6,
	socket = 7,
	unknown = 8,
	junction = 9
};
enum class perms : unsigned {
	none = 0,
	owner_read = 0400,
	owner_write = 0200,
	owner_exec = 0100,
	owner_all = 0700,
	group_read = 040,
	group_write = 020,
	group_exec = 010,
	group_all = 070,
	others_read = 04,
	others_write = 02,
	others_exec = 01,
	others_all = 07,
	all = 0777,
	set_uid = 04000,
	set_gid = 02000,
	sticky_bit = 01000,
	mask = 07777,
	unknown = 0xFFFF
};
enum class perm_options : unsigned { replace = 1, add = 2, remove = 4, nofollow = 8 };
enum class copy_options : unsigned short {
	none = 0,
	skip_existing = 1,
	overwrite_existing = 2,
	update_existing = 4,
	recursive = 8,
	copy_symlinks = 16,
	skip_symlinks = 32,
	directories_only = 64,
	create_symlinks = 128,
	create_hard_links = 256
};
enum class directory_options : unsigned char { none = 0, follow_directory_symlink = 1, skip_permission_denied = 2 };
#define ETW_FS_BITS(E)                               \
	constexpr E operator&(E a, E b) noexcept     \
	{                                            \
		return E(unsigned(a) & unsigned(b)); \
	}                                            \
	constexpr E operator|(E a, E b) noexcept     \
	{                                            \
		return E(unsigned(a) | unsigned(b)); \
	}                                            \
	constexpr E operator^(E a, E b) noexcept     \
	{                                            \
		return E(unsigned(a) ^ unsigned(b)); \
	}                                            \
	constexpr E operator~(E a) noexcept          \
	{                                            \
		return E(~unsigned(a));              \
	}                                            \
	inline E &operator&=(E &a, E b) noexcept     \
	{                                            \
		return a = a & b;                    \
	}                                            \
	inline E &operator|=(E &a, E b) noexcept     \
	{                                            \
		return a = a | b;                    \
	}                                            \
	inline E &operator^=(E &a, E b) noexcept     \
	{                                            \
		return a = a ^ b;                    \
	}
ETW_FS_BITS(perms)
ETW_FS_BITS(perm_options)
ETW_FS_BITS(copy_options)
ETW_FS_BITS(directory_options)
#undef ETW_FS_BITS
template <class E> constexpr bool etw_has(E set, E bit)
{
	return (set & bit) != E(0);
}

struct space_info {
	uintmax_t capacity, free, available;
#if __cpp_lib_three_way_comparison
	friend bool operator==(const space_info &, const space_info &) = default;
#endif
};

/* libstdc++'s clock of files begins in the year 2174; before version 11 it is the system's here. */
#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 11
using file_time_type = chrono::time_point<__file_clock>;
constexpr int64_t etw_file_epoch = 6437664000; /* seconds since 1970 */
#else
using file_time_type = chrono::time_point<chrono::system_clock, chrono::nanoseconds>;
constexpr int64_t etw_file_epoch = 0;
#endif

class file_status
{
	file_type type_;
	perms perms_;

      public:
	file_status() noexcept : file_status(file_type::none)
	{
	}
	explicit file_status(file_type type, perms p = perms::unknown) noexcept : type_(type), perms_(p)
	{
	}
	file_type type() const noexcept
	{
		return type_;
	}
	perms permissions() const noexcept
	{
		return perms_;
	}
	void type(file_type t) noexcept
	{
		type_ = t;
	}
	void permissions(perms p) noexcept
	{
		perms_ = p;
	}
	friend bool operator==(const file_status &a, const file_status &b) noexcept
	{
		return a.type_ == b.type_ && a.perms_ == b.perms_;
	}
};

class filesystem_error : public system_error
{
	struct data {
		path one, two;
		std::string what;
	};
	std::shared_ptr<const data> data_;

	void tell(const path &a, const path &b)
	{
		std::string what = std::string("filesystem error: ") + system_error::what();
		what += a.empty() ? "" : " [" + a.string() + "]";
		what += b.empty() ? "" : " [" + b.string() + "]";
		data_ = std::make_shared<data>(data{a, b, what});
	}

      public:
	filesystem_error(const std::string &what, error_code e) : system_error(e, what)
	{
		tell(path(), path());
	}
	filesystem_error(const std::string &what, const path &a, error_code e) : system_error(e, what)
	{
		tell(a, path());
	}
	filesystem_error(const std::string &what, const path &a, const path &b, error_code e) : system_error(e, what)
	{
		tell(a, b);
	}
	const path &path1() const noexcept
	{
		return data_->one;
	}
	const path &path2() const noexcept
	{
		return data_->two;
	}
	const char *what() const noexcept override
	{
		return data_->what.c_str();
	}
};

inline error_code etw_error(int number) noexcept
{
	return error_code(number, generic_category());
}
/* An error goes where the caller wants it: into *to, or out as an exception. */
inline void etw_report(error_code *to, int number, const char *what, const path &a, const path &b = path())
{
	if (to) {
		*to = etw_error(number);
	} else if (number) {
		throw filesystem_error(what, a, b, etw_error(number));
	}
}
/* A string that the library made. */
inline path etw_take(wchar_t *s)
{
	path p;
	if (s) {
		p = path(std::wstring(s));
	}
	etw_fs_free(s);
	return p;
}

inline file_type etw_type_of(unsigned mode)
{
	switch (mode & 0170000) {
	case 0100000: return file_type::regular;
	case 0040000: return file_type::directory;
	case 0120000: return file_type::symlink;
	case 0060000: return file_type::block;
	case 0020000: return file_type::character;
	case 0010000: return file_type::fifo;
	case 0140000: return file_type::socket;
	default: return file_type::unknown;
	}
}
inline file_status etw_status(const path &p, bool follow, error_code *to)
{
	etw_fs_stat st;
	int err = etw_fs_stat_of(p.c_str(), follow, &st);
	if (err == ENOENT || err == ENOTDIR) {
		etw_report(to, to ? err : 0, "status", p);
		return file_status(file_type::not_found);
	}
	etw_report(to, err, "status", p);
	return err ? file_status(file_type::none)
		   : file_status(etw_type_of(st.mode), perms(st.mode & unsigned(perms::mask)));
}
inline file_status status(const path &p)
{
	return etw_status(p, true, nullptr);
}
inline file_status status(const path &p, error_code &e) noexcept
{
	return etw_status(p, true, &e);
}
inline file_status symlink_status(const path &p)
{
	return etw_status(p, false, nullptr);
}
inline file_status symlink_status(const path &p, error_code &e) noexcept
{
	return etw_status(p, false, &e);
}
inline bool status_known(file_status s) noexcept
{
	return s.type() != file_type::none;
}
inline bool exists(file_status s) noexcept
{
	return status_known(s) && s.type() != file_type::not_found;
}
inline bool exists(const path &p)
{
	return exists(status(p));
}
inline bool exists(const path &p, error_code &e) noexcept
{
	file_status s = status(p, e);
	if (status_known(s)) {
		e.clear(); /* that it is not there is an answer */
	}
	return exists(s);
}
#define ETW_FS_IS(name, kind)                                                               \
	inline bool name(file_status s) noexcept                                            \
	{                                                                                   \
		return s.type() == file_type::kind;                                         \
	}                                                                                   \
	inline bool name(const path &p)                                                     \
	{                                                                                   \
		return name(etw_status(p, file_type::kind != file_type::symlink, nullptr)); \
	}                                                                                   \
	inline bool name(const path &p, error_code &e) noexcept                             \
	{                                                                                   \
		return name(etw_status(p, file_type::kind != file_type::symlink, &e));      \
	}
ETW_FS_IS(is_regular_file, regular)
ETW_FS_IS(is_directory, directory)
ETW_FS_IS(is_symlink, symlink)
ETW_FS_IS(is_block_file, block)
ETW_FS_IS(is_character_file, character)
ETW_FS_IS(is_fifo, fifo)
ETW_FS_IS(is_socket, socket)
#undef ETW_FS_IS
inline bool is_other(file_status s) noexcept
{
	return exists(s) && !is_regular_file(s) && !is_directory(s) && !is_symlink(s);
}
inline bool is_other(const path &p)
{
	return is_other(status(p));
}
inline bool is_other(const path &p, error_code &e) noexcept
{
	return is_other(status(p, e));
}

inline file_time_type etw_file_time(int64_t seconds, int64_t nanoseconds)
{
	return file_time_type(chrono::seconds(seconds - etw_file_epoch) + chrono::nanoseconds(nanoseconds));
}
inline int64_t etw_unix_nanoseconds(file_time_type t)
{
	using namespace chrono;
	return duration_cast<nanoseconds>(t.time_since_epoch() + chrono::seconds(etw_file_epoch)).count();
}
} // namespace etw16
} // namespace std::filesystem
#endif
#endif
