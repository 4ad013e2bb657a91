/* SPDX-License-Identifier: MIT
 *
 * std::filesystem: folders. Read by <filesystem>.
 */
#ifndef ETW_CRT_ETW_FS_DIR_H
#define ETW_CRT_ETW_FS_DIR_H
#pragma GCC system_header
#if __cplusplus >= 201703L

#include "etw_fs_types.h"

namespace std::filesystem
{
inline namespace etw16
{

uintmax_t etw_file_size(const path &p, error_code *to);
uintmax_t etw_hard_link_count(const path &p, error_code *to);
file_time_type etw_last_write_time(const path &p, error_code *to);

/* A path that asks each time; nothing is remembered. */
class directory_entry
{
	filesystem::path path_;

      public:
	directory_entry() = default;
	explicit directory_entry(const filesystem::path &p) : path_(p)
	{
	}
	directory_entry(const filesystem::path &p, error_code &e) : path_(p)
	{
		e.clear();
	}
	void assign(const filesystem::path &p)
	{
		path_ = p;
	}
	void assign(const filesystem::path &p, error_code &e)
	{
		path_ = p;
		e.clear();
	}
	void replace_filename(const filesystem::path &p)
	{
		path_.replace_filename(p);
	}
	void refresh()
	{
	}
	void refresh(error_code &e) noexcept
	{
		e.clear();
	}
	const filesystem::path &path() const noexcept
	{
		return path_;
	}
	operator const filesystem::path &() const noexcept
	{
		return path_;
	}
#define ETW_FS_ASK(type, name)                     \
	type name() const                          \
	{                                          \
		return filesystem::name(path_);    \
	}                                          \
	type name(error_code &e) const noexcept    \
	{                                          \
		return filesystem::name(path_, e); \
	}
	ETW_FS_ASK(bool, exists)
	ETW_FS_ASK(bool, is_regular_file)
	ETW_FS_ASK(bool, is_directory)
	ETW_FS_ASK(bool, is_symlink)
	ETW_FS_ASK(bool, is_block_file)
	ETW_FS_ASK(bool, is_character_file)
	ETW_FS_ASK(bool, is_fifo)
	ETW_FS_ASK(bool, is_socket)
	ETW_FS_ASK(bool, is_other)
	ETW_FS_ASK(file_status, status)
	ETW_FS_ASK(file_status, symlink_status)
#undef ETW_FS_ASK
	uintmax_t file_size() const
	{
		return etw_file_size(path_, nullptr);
	}
	uintmax_t file_size(error_code &e) const noexcept
	{
		return etw_file_size(path_, &e);
	}
	uintmax_t hard_link_count() const
	{
		return etw_hard_link_count(path_, nullptr);
	}
	uintmax_t hard_link_count(error_code &e) const noexcept
	{
		return etw_hard_link_count(path_, &e);
	}
	file_time_type last_write_time() const
	{
		return etw_last_write_time(path_, nullptr);
	}
	file_time_type last_write_time(error_code &e) const noexcept
	{
		return etw_last_write_time(path_, &e);
	}
	friend bool operator==(const directory_entry &a, const directory_entry &b)
	{
		return a.path_ == b.path_;
	}
#if __cpp_lib_three_way_comparison
	friend strong_ordering operator<=>(const directory_entry &a, const directory_entry &b)
	{
		return a.path_ <=> b.path_;
	}
#else
	friend bool operator!=(const directory_entry &a, const directory_entry &b)
	{
		return !(a == b);
	}
	friend bool operator<(const directory_entry &a, const directory_entry &b)
	{
		return a.path_ < b.path_;
	}
#endif
	template <class C, class T>
	friend basic_ostream<C, T> &operator<<(basic_ostream<C, T> &out, const directory_entry &d)
	{
		return out << d.path();
	}
};

/* An open folder and the entry it is at; closed with the last iterator. */
struct etw_folder {
	void *handle = nullptr;
	path where;
	directory_entry at;

	~etw_folder()
	{
		if (handle) {
			etw_fs_closedir(handle);
		}
	}
	/* False at the end, and after an error. */
	bool next(int *ret_err)
	{
		wchar_t *name = nullptr;
		int r = etw_fs_readdir(handle, &name);
		*ret_err = r < 0 ? -r : 0;
		if (r > 0) {
			at = directory_entry(where / etw_take(name));
		}
		return r > 0;
	}
};
/* NULL at the end and after an error. */
inline std::shared_ptr<etw_folder> etw_open(const path &p, directory_options o, error_code *to)
{
	auto f = std::make_shared<etw_folder>();
	int err = 0;
	f->where = p;
	f->handle = etw_fs_opendir(p.c_str(), &err);
	bool any = f->handle && f->next(&err);
	if (err == EACCES && etw_has(o, directory_options::skip_permission_denied)) {
		err = 0;
	}
	etw_report(to, err, "cannot open directory", p);
	return any ? f : nullptr;
}
template <class D> struct etw_entry_proxy {
	directory_entry entry;
	const directory_entry &operator*() const noexcept
	{
		return entry;
	}
};

class directory_iterator
{
	std::shared_ptr<etw_folder> folder_;

	directory_iterator &step(error_code *to)
	{
		int err = 0;
		path where = folder_->where;
		if (!folder_->next(&err)) {
			folder_.reset();
		}
		etw_report(to, err, "cannot read directory", where);
		return *this;
	}

      public:
	using value_type = directory_entry;
	using difference_type = ptrdiff_t;
	using pointer = const directory_entry *;
	using reference = const directory_entry &;
	using iterator_category = input_iterator_tag;

	directory_iterator() noexcept
	{
	}
	explicit directory_iterator(const path &p, directory_options o = directory_options::none)
	    : folder_(etw_open(p, o, nullptr))
	{
	}
	directory_iterator(const path &p, error_code &e) : folder_(etw_open(p, directory_options::none, &e))
	{
	}
	directory_iterator(const path &p, directory_options o, error_code &e) : folder_(etw_open(p, o, &e))
	{
	}
	reference operator*() const
	{
		return folder_->at;
	}
	pointer operator->() const
	{
		return &folder_->at;
	}
	directory_iterator &operator++()
	{
		return step(nullptr);
	}
	directory_iterator &increment(error_code &e)
	{
		return step(&e);
	}
	etw_entry_proxy<directory_iterator> operator++(int)
	{
		etw_entry_proxy<directory_iterator> before{**this};
		++*this;
		return before;
	}
	friend bool operator==(const directory_iterator &a, const directory_iterator &b)
	{
		return a.folder_ == b.folder_;
	}
	friend bool operator!=(const directory_iterator &a, const directory_iterator &b)
	{
		return a.folder_ != b.folder_;
	}
};
inline directory_iterator begin(directory_iterator i) noexcept
{
	return i;
}
inline directory_iterator end(const directory_iterator &) noexcept
{
	return directory_iterator();
}

class recursive_directory_iterator
{
	struct state {
		std::vector<std::shared_ptr<etw_folder>> open;
		directory_options options = directory_options::none;
		bool into = true;
	};
	std::shared_ptr<state> state_;

	void begin_at(const path &p, directory_options o, error_code *to)
	{
		auto f = etw_open(p, o, to);
		if (f) {
			state_ = std::make_shared<state>();
			state_->open.push_back(f);
			state_->options = o;
		}
	}
	/* To the next entry of the innermost folder that has one. */
	void leave(error_code *to)
	{
		while (state_ && !state_->open.empty()) {
			int err = 0;
			if (state_->open.back()->next(&err)) {
				return;
			}
			path where = state_->open.back()->where;
			state_->open.pop_back();
			if (err) {
				if (state_->open.empty()) {
					state_.reset();
				}
				etw_report(to, err, "cannot read directory", where);
				return;
			}
		}
		state_.reset();
	}
	recursive_directory_iterator &step(error_code *to)
	{
		bool follow = etw_has(state_->options, directory_options::follow_directory_symlink);
		error_code ignored;
		const path &at = state_->open.back()->at.path();
		if (to) {
			to->clear();
		}
		bool into = state_->into && is_directory(follow ? filesystem::status(at, ignored)
								: filesystem::symlink_status(at, ignored));
		state_->into = true;
		if (into) {
			auto inner = etw_open(at, state_->options, to);
			if (inner) {
				state_->open.push_back(inner);
				return *this;
			}
			if (to && *to) {
				state_.reset();
				return *this;
			}
		}
		leave(to);
		return *this;
	}

      public:
	using value_type = directory_entry;
	using difference_type = ptrdiff_t;
	using pointer = const directory_entry *;
	using reference = const directory_entry &;
	using iterator_category = input_iterator_tag;

	recursive_directory_iterator() noexcept
	{
	}
	explicit recursive_directory_iterator(const path &p, directory_options o = directory_options::none)
	{
		begin_at(p, o, nullptr);
	}
	recursive_directory_iterator(const path &p, error_code &e)
	{
		begin_at(p, directory_options::none, &e);
	}
	recursive_directory_iterator(const path &p, directory_options o, error_code &e)
	{
		begin_at(p, o, &e);
	}
	directory_options options() const
	{
		return state_->options;
	}
	int depth() const
	{
		return int(state_->open.size()) - 1;
	}
	bool recursion_pending() const
	{
		return state_->into;
	}
	void disable_recursion_pending()
	{
		state_->into = false;
	}
	void pop()
	{
		state_->open.pop_back();
		leave(nullptr);
	}
	void pop(error_code &e)
	{
		e.clear();
		state_->open.pop_back();
		leave(&e);
	}
	reference operator*() const
	{
		return state_->open.back()->at;
	}
	pointer operator->() const
	{
		return &state_->open.back()->at;
	}
	recursive_directory_iterator &operator++()
	{
		return step(nullptr);
	}
	recursive_directory_iterator &increment(error_code &e)
	{
		return step(&e);
	}
	etw_entry_proxy<recursive_directory_iterator> operator++(int)
	{
		etw_entry_proxy<recursive_directory_iterator> before{**this};
		++*this;
		return before;
	}
	friend bool operator==(const recursive_directory_iterator &a, const recursive_directory_iterator &b)
	{
		return a.state_ == b.state_;
	}
	friend bool operator!=(const recursive_directory_iterator &a, const recursive_directory_iterator &b)
	{
		return a.state_ != b.state_;
	}
};
inline recursive_directory_iterator begin(recursive_directory_iterator i) noexcept
{
	return i;
}
inline recursive_directory_iterator end(const recursive_directory_iterator &) noexcept
{
	return recursive_directory_iterator();
}
} // namespace etw16
} // namespace std::filesystem
#endif
#endif
