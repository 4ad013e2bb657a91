/* SPDX-License-Identifier: MIT
 *
 * std::filesystem::path of 16-bit characters. Read by <filesystem>.
 */
#ifndef ETW_CRT_ETW_FS_PATH_H
#define ETW_CRT_ETW_FS_PATH_H
#pragma GCC system_header
#if __cplusplus >= 201703L

#include <iomanip>
#include <iosfwd>
#include <iterator>
#include <locale>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus > 201703L
#include <compare>
#endif

#include "etw_wide_locale.h"

namespace std::filesystem
{
inline namespace etw16
{

/* Text in any of the five kinds of characters, from and to UTF-16. */
struct etw_text {
	static void put(std::wstring &to, unsigned cp)
	{
		if (cp >= 0x10000 && cp < 0x110000) {
			to += wchar_t(0xD7C0 + (cp >> 10));
			cp = 0xDC00 | (cp & 0x3FF);
		}
		to += wchar_t(cp);
	}
	template <class C> static void from(std::wstring &to, const C *p, const C *end)
	{
		if constexpr (sizeof(C) == 2) {
			to.append(p, end);
		} else if constexpr (sizeof(C) == 4) {
			for (; p < end; p++) {
				put(to, unsigned(*p));
			}
		} else {
			const char *b = reinterpret_cast<const char *>(p), *e = reinterpret_cast<const char *>(end);
			while (b < e) {
				unsigned cp = 0xFFFD;
				int n = etw_wide::codecvt16::decode(b, e, &cp);
				put(to, n ? cp : 0xFFFD);
				b = n ? b + n : e;
			}
		}
	}
	template <class C> static std::wstring from(std::basic_string_view<C> s)
	{
		std::wstring to;
		from(to, s.data(), s.data() + s.size());
		return to;
	}
	template <class S> static S to(const std::wstring &s)
	{
		using C = typename S::value_type;
		S out;
		for (size_t i = 0; i < s.size(); i++) {
			unsigned cp = s[i];
			if constexpr (sizeof(C) != 2) {
				if ((cp & 0xFC00) == 0xD800 && i + 1 < s.size() && (s[i + 1] & 0xFC00) == 0xDC00) {
					cp = 0x10000 + ((cp & 0x3FF) << 10) + (s[++i] & 0x3FFu);
				} else if ((cp & 0xF800) == 0xD800) {
					cp = 0xFFFD;
				}
			}
			if constexpr (sizeof(C) == 1) {
				char bytes[4];
				int n = etw_wide::codecvt16::encode(cp, bytes);
				for (int k = 0; k < n; k++) {
					out += C(bytes[k]);
				}
			} else {
				out += C(cp);
			}
		}
		return out;
	}
};

template <class C> struct etw_is_char : false_type {
};
template <> struct etw_is_char<char> : true_type {
};
template <> struct etw_is_char<wchar_t> : true_type {
};
template <> struct etw_is_char<char16_t> : true_type {
};
template <> struct etw_is_char<char32_t> : true_type {
};
#ifdef __cpp_char8_t
template <> struct etw_is_char<char8_t> : true_type {
};
#endif

/* What a path can be made of: strings, views, and pointers or iterators to characters that end in 0. */
template <class S, class = void> struct etw_source : false_type {
};
template <class C, class T, class A> struct etw_source<basic_string<C, T, A>, void> : etw_is_char<C> {
	static wstring text(const basic_string<C, T, A> &s)
	{
		return etw_text::from(basic_string_view<C>(s.data(), s.size()));
	}
};
template <class C, class T> struct etw_source<basic_string_view<C, T>, void> : etw_is_char<C> {
	static wstring text(const basic_string_view<C, T> &s)
	{
		return etw_text::from(basic_string_view<C>(s.data(), s.size()));
	}
};
template <class I>
struct etw_source<I, enable_if_t<etw_is_char<remove_cv_t<typename iterator_traits<I>::value_type>>::value>>
    : true_type {
	static wstring text(I p)
	{
		using C = remove_cv_t<typename iterator_traits<I>::value_type>;
		basic_string<C> s;
		for (; *p != C(); ++p) {
			s += *p;
		}
		return etw_text::from(basic_string_view<C>(s));
	}
};

class path
{
	std::wstring text_;

	static bool is_separator(wchar_t c)
	{
		return c == L'/' || c == L'\\';
	}
	/* "C:", or "\\server". */
	size_t root_name_length() const
	{
		const std::wstring &s = text_;
		if (s.size() >= 2 && s[1] == L':' && ((s[0] | 0x20) >= L'a' && (s[0] | 0x20) <= L'z')) {
			return 2;
		}
		size_t n = 0;
		if (s.size() > 2 && s[0] == L'\\' && s[1] == L'\\' && !is_separator(s[2])) {
			for (n = 2; n < s.size() && !is_separator(s[n]); n++) {
			}
		}
		return n;
	}
	size_t root_length() const
	{
		size_t n = root_name_length();
		while (n < text_.size() && is_separator(text_[n])) {
			n++;
		}
		return n;
	}
	/* Where the last part begins. */
	size_t last() const
	{
		size_t root = root_length(), n = text_.size();
		while (n > root && !is_separator(text_[n - 1])) {
			n--;
		}
		return n;
	}
	/* Where its extension begins: the last dot, but not the first character, and not of "..". */
	size_t dot() const
	{
		size_t from = last(), at = text_.rfind(L'.');
		bool dots = text_.compare(from, wstring::npos, L"..") == 0;
		return at == wstring::npos || at <= from || dots ? text_.size() : at;
	}
	path part(size_t from, size_t to) const
	{
		path p;
		p.text_.assign(text_, from, to - from);
		return p;
	}

      public:
	using value_type = wchar_t;
	using string_type = std::wstring;
	static constexpr value_type preferred_separator = L'/';
	enum format : unsigned char { native_format, generic_format, auto_format };

	class iterator;
	using const_iterator = iterator;

	path() noexcept
	{
	}
	path(const path &) = default;
	path(path &&p) noexcept : text_(std::move(p.text_))
	{
		p.text_.clear();
	}
	path(string_type &&s, format = auto_format) : text_(std::move(s))
	{
	}
	template <class S, class D = decay_t<const S>, class = enable_if_t<!is_same_v<D, path> && etw_source<D>::value>>
	path(const S &s, format = auto_format) : text_(etw_source<D>::text(s))
	{
	}
	template <class I, class = typename iterator_traits<I>::value_type> path(I first, I last, format = auto_format)
	{
		using C = remove_cv_t<typename iterator_traits<I>::value_type>;
		basic_string<C> s(first, last);
		text_ = etw_text::from(basic_string_view<C>(s));
	}
	template <class S> path(const S &s, const std::locale &, format f = auto_format) : path(s, f)
	{
	}
	~path() = default;

	path &operator=(const path &) = default;
	path &operator=(path &&p) noexcept
	{
		text_ = std::move(p.text_);
		if (&p != this) {
			p.text_.clear();
		}
		return *this;
	}
	path &operator=(string_type &&s)
	{
		text_ = std::move(s);
		return *this;
	}
	path &assign(string_type &&s)
	{
		return *this = std::move(s);
	}
	template <class S, class D = decay_t<const S>, class = enable_if_t<!is_same_v<D, path> && etw_source<D>::value>>
	path &operator=(const S &s)
	{
		text_ = etw_source<D>::text(s);
		return *this;
	}
	template <class S> path &assign(const S &s)
	{
		return *this = path(s);
	}
	template <class I> path &assign(I first, I last)
	{
		return *this = path(first, last);
	}

	path &operator/=(const path &p)
	{
		if (p.is_absolute() || (p.has_root_name() && p.root_name() != root_name())) {
			return *this = p;
		}
		if (p.has_root_directory()) {
			text_.resize(root_name_length());
		} else if (has_filename()) {
			text_ += preferred_separator;
		}
		text_.append(p.text_, p.root_name_length(), wstring::npos);
		return *this;
	}
	template <class S, class D = decay_t<const S>, class = enable_if_t<!is_same_v<D, path> && etw_source<D>::value>>
	path &operator/=(const S &s)
	{
		return *this /= path(s);
	}
	template <class S> path &append(const S &s)
	{
		return *this /= path(s);
	}
	template <class I> path &append(I first, I last)
	{
		return *this /= path(first, last);
	}
	path &operator+=(const path &p)
	{
		text_ += p.text_;
		return *this;
	}
	path &operator+=(value_type c)
	{
		text_ += c;
		return *this;
	}
	template <class C> enable_if_t<etw_is_char<C>::value && !is_same_v<C, value_type>, path &> operator+=(C c)
	{
		return *this += path(basic_string<C>(1, c));
	}
	template <class S, class D = decay_t<const S>, class = enable_if_t<!is_same_v<D, path> && etw_source<D>::value>>
	path &operator+=(const S &s)
	{
		text_ += etw_source<D>::text(s);
		return *this;
	}
	template <class S> path &concat(const S &s)
	{
		return *this += path(s);
	}
	template <class I> path &concat(I first, I last)
	{
		return *this += path(first, last);
	}

	void clear() noexcept
	{
		text_.clear();
	}
	path &make_preferred()
	{
		for (wchar_t &c : text_) {
			c = is_separator(c) ? preferred_separator : c;
		}
		return *this;
	}
	path &remove_filename()
	{
		text_.resize(last());
		return *this;
	}
	path &replace_filename(const path &p)
	{
		return remove_filename() /= p;
	}
	path &replace_extension(const path &p = path())
	{
		text_.resize(dot());
		if (!p.empty() && p.text_[0] != L'.') {
			text_ += L'.';
		}
		return *this += p;
	}
	void swap(path &p) noexcept
	{
		text_.swap(p.text_);
	}

	const string_type &native() const noexcept
	{
		return text_;
	}
	const value_type *c_str() const noexcept
	{
		return text_.c_str();
	}
	operator string_type() const
	{
		return text_;
	}
	template <class C, class T = char_traits<C>, class A = allocator<C>>
	basic_string<C, T, A> string(const A & = A()) const
	{
		return etw_text::to<basic_string<C, T, A>>(text_);
	}
	std::string string() const
	{
		return string<char>();
	}
	std::wstring wstring() const
	{
		return text_;
	}
	std::u16string u16string() const
	{
		return string<char16_t>();
	}
	std::u32string u32string() const
	{
		return string<char32_t>();
	}
	template <class C, class T = char_traits<C>, class A = allocator<C>>
	basic_string<C, T, A> generic_string(const A &a = A()) const
	{
		return path(*this).make_preferred().string<C, T, A>(a);
	}
	std::string generic_string() const
	{
		return generic_string<char>();
	}
	std::wstring generic_wstring() const
	{
		return path(*this).make_preferred().text_;
	}
	std::u16string generic_u16string() const
	{
		return generic_string<char16_t>();
	}
	std::u32string generic_u32string() const
	{
		return generic_string<char32_t>();
	}
#ifdef __cpp_char8_t
	std::u8string u8string() const
	{
		return string<char8_t>();
	}
	std::u8string generic_u8string() const
	{
		return generic_string<char8_t>();
	}
#else
	std::string u8string() const
	{
		return string<char>();
	}
	std::string generic_u8string() const
	{
		return generic_string<char>();
	}
#endif

	path root_name() const
	{
		return part(0, root_name_length());
	}
	path root_directory() const
	{
		size_t n = root_name_length();
		return part(n, root_length() > n ? n + 1 : n);
	}
	path root_path() const
	{
		size_t n = root_name_length();
		return part(0, root_length() > n ? n + 1 : n);
	}
	path relative_path() const
	{
		return part(root_length(), text_.size());
	}
	path parent_path() const
	{
		size_t root = root_length(), n = last();
		if (text_.size() == root) {
			return *this;
		}
		while (n > root && is_separator(text_[n - 1])) {
			n--;
		}
		return n == root ? root_path() : part(0, n);
	}
	path filename() const
	{
		return part(last(), text_.size());
	}
	path stem() const
	{
		return part(last(), dot());
	}
	path extension() const
	{
		return part(dot(), text_.size());
	}
	[[nodiscard]] bool empty() const noexcept
	{
		return text_.empty();
	}
	bool has_root_name() const
	{
		return root_name_length() > 0;
	}
	bool has_root_directory() const
	{
		return root_length() > root_name_length();
	}
	bool has_root_path() const
	{
		return root_length() > 0;
	}
	bool has_relative_path() const
	{
		return root_length() < text_.size();
	}
	bool has_parent_path() const
	{
		return !parent_path().empty();
	}
	bool has_filename() const
	{
		return last() < text_.size();
	}
	bool has_stem() const
	{
		return !stem().empty();
	}
	bool has_extension() const
	{
		return dot() < text_.size();
	}
	bool is_absolute() const
	{
		return has_root_directory();
	}
	bool is_relative() const
	{
		return !is_absolute();
	}

	/* Root name, root directory, the parts, and an empty one when a separator is the last. */
	std::vector<path> etw_parts() const
	{
		std::vector<path> parts;
		size_t name = root_name_length(), root = root_length(), at = root;
		if (name) {
			parts.push_back(part(0, name));
		}
		if (root > name) {
			parts.push_back(part(name, name + 1));
		}
		while (at < text_.size()) {
			size_t end = at;
			while (end < text_.size() && !is_separator(text_[end])) {
				end++;
			}
			parts.push_back(part(at, end));
			bool more = end < text_.size();
			while (end < text_.size() && is_separator(text_[end])) {
				end++;
			}
			if (more && end == text_.size()) {
				parts.emplace_back();
			}
			at = end;
		}
		return parts;
	}
	inline iterator begin() const;
	inline iterator end() const;

	int compare(const path &p) const
	{
		int names = root_name().text_.compare(p.root_name().text_);
		bool mine = has_root_directory(), theirs = p.has_root_directory();
		if (names || mine != theirs) {
			return names ? names : mine ? 1 : -1;
		}
		std::vector<path> a = relative_path().etw_parts(), b = p.relative_path().etw_parts();
		for (size_t i = 0; i < a.size() && i < b.size(); i++) {
			int r = a[i].text_.compare(b[i].text_);
			if (r) {
				return r;
			}
		}
		return a.size() < b.size() ? -1 : a.size() > b.size();
	}
	int compare(const string_type &s) const
	{
		return compare(path(s));
	}
	int compare(basic_string_view<value_type> s) const
	{
		return compare(path(s));
	}
	int compare(const value_type *s) const
	{
		return compare(path(s));
	}

	path lexically_normal() const
	{
		path to = root_path();
		to.make_preferred();
		std::vector<path> out;
		bool ends = false;
		for (const path &p : relative_path().etw_parts()) {
			bool up = p.text_ == L"..";
			ends = p.empty() || p.text_ == L"." || up;
			if (p.empty() || p.text_ == L".") {
				continue;
			}
			if (!up) {
				out.push_back(p);
			} else if (!out.empty() && out.back().text_ != L"..") {
				out.pop_back();
			} else if (!has_root_directory()) {
				out.push_back(p);
				ends = false;
			}
		}
		for (const path &p : out) {
			to /= p;
		}
		if (ends && !out.empty() && out.back().text_ != L"..") {
			to.text_ += preferred_separator;
		}
		if (to.empty() && !empty()) {
			to.text_ = L".";
		}
		return to;
	}
	path lexically_relative(const path &base) const
	{
		path to;
		if (root_name() != base.root_name() || is_absolute() != base.is_absolute() ||
		    (!has_root_directory() && base.has_root_directory())) {
			return to;
		}
		std::vector<path> a = etw_parts(), b = base.etw_parts();
		size_t i = 0;
		while (i < a.size() && i < b.size() && a[i] == b[i]) {
			i++;
		}
		if (i == a.size() && i == b.size()) {
			return path(L".");
		}
		int ups = 0;
		for (size_t k = i; k < b.size(); k++) {
			ups += b[k].text_ == L".." ? -1 : b[k].empty() || b[k].text_ == L"." ? 0 : 1;
		}
		if (ups < 0) {
			return to;
		}
		if (ups == 0 && (i == a.size() || a[i].empty())) {
			return path(L".");
		}
		for (; ups > 0; ups--) {
			to /= path(L"..");
		}
		for (; i < a.size(); i++) {
			to /= a[i];
		}
		return to;
	}
	path lexically_proximate(const path &base) const
	{
		path to = lexically_relative(base);
		return to.empty() ? *this : to;
	}

	friend bool operator==(const path &a, const path &b)
	{
		return a.compare(b) == 0;
	}
#if __cpp_lib_three_way_comparison
	friend strong_ordering operator<=>(const path &a, const path &b)
	{
		return a.compare(b) <=> 0;
	}
#else
	friend bool operator!=(const path &a, const path &b)
	{
		return a.compare(b) != 0;
	}
	friend bool operator<(const path &a, const path &b)
	{
		return a.compare(b) < 0;
	}
	friend bool operator<=(const path &a, const path &b)
	{
		return a.compare(b) <= 0;
	}
	friend bool operator>(const path &a, const path &b)
	{
		return a.compare(b) > 0;
	}
	friend bool operator>=(const path &a, const path &b)
	{
		return a.compare(b) >= 0;
	}
#endif
	friend path operator/(const path &a, const path &b)
	{
		path p(a);
		p /= b;
		return p;
	}
	template <class C, class T> friend basic_ostream<C, T> &operator<<(basic_ostream<C, T> &out, const path &p)
	{
		out << std::quoted(p.string<C, T>());
		return out;
	}
	template <class C, class T> friend basic_istream<C, T> &operator>>(basic_istream<C, T> &in, path &p)
	{
		basic_string<C, T> s;
		if (in >> std::quoted(s)) {
			p = s;
		}
		return in;
	}
};

class path::iterator
{
	friend class path;
	std::shared_ptr<const std::vector<path>> parts_;
	size_t at_ = 0;

	iterator(std::shared_ptr<const std::vector<path>> parts, size_t at) : parts_(std::move(parts)), at_(at)
	{
	}

      public:
	using difference_type = ptrdiff_t;
	using value_type = path;
	using reference = const path &;
	using pointer = const path *;
	using iterator_category = bidirectional_iterator_tag;

	iterator() = default;
	reference operator*() const
	{
		return (*parts_)[at_];
	}
	pointer operator->() const
	{
		return &(*parts_)[at_];
	}
	iterator &operator++()
	{
		at_++;
		return *this;
	}
	iterator operator++(int)
	{
		iterator before(*this);
		at_++;
		return before;
	}
	iterator &operator--()
	{
		at_--;
		return *this;
	}
	iterator operator--(int)
	{
		iterator before(*this);
		at_--;
		return before;
	}
	/* Those of one path have the same parts, although each begin() has a list of its own. */
	friend bool operator==(const iterator &a, const iterator &b)
	{
		return a.at_ == b.at_;
	}
	friend bool operator!=(const iterator &a, const iterator &b)
	{
		return a.at_ != b.at_;
	}
};
inline path::iterator path::begin() const
{
	return iterator(std::make_shared<const std::vector<path>>(etw_parts()), 0);
}
inline path::iterator path::end() const
{
	auto parts = std::make_shared<const std::vector<path>>(etw_parts());
	size_t n = parts->size();
	return iterator(std::move(parts), n);
}

inline void swap(path &a, path &b) noexcept
{
	a.swap(b);
}
inline size_t hash_value(const path &p) noexcept
{
	size_t h = 0;
	for (const path &x : p.etw_parts()) {
		h = h * 31 + std::hash<std::wstring>()(x.has_root_directory() ? std::wstring(L"/") : x.native());
	}
	return h;
}
template <class S> path u8path(const S &s)
{
	return path(s);
}
template <class I> path u8path(I first, I last)
{
	return path(first, last);
}
} // namespace etw16
} // namespace std::filesystem

template <> struct std::hash<std::filesystem::path> {
	size_t operator()(const std::filesystem::path &p) const noexcept
	{
		return hash_value(p);
	}
};
#endif
#endif
