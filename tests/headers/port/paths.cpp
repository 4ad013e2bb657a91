/* SPDX-License-Identifier: MIT
 *
 * std::filesystem with paths of 16-bit characters, and files by wide names. C++17 and 20.
 */
#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>

namespace fs = std::filesystem;

static int failed;
#define CHECK(...)                                                               \
	do {                                                                     \
		if (!(__VA_ARGS__)) {                                            \
			failed++;                                                \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
		}                                                                \
	} while (0)
static void is(int line, const fs::path &got, const wchar_t *expected)
{
	if (got.native() != expected) {
		failed++;
		printf("line %d: %ls is not %ls\n", line, got.c_str(), expected);
	}
}
#define IS(got, expected) is(__LINE__, (got), (expected))

static std::wstring takes(const std::wstring &s)
{
	return s;
}
static size_t takes_pointer(LPCWSTR s)
{
	return wcslen(s);
}

static void strings()
{
	static_assert(std::is_same_v<fs::path::value_type, wchar_t> && sizeof(fs::path::value_type) == 2);
	static_assert(std::is_convertible_v<fs::path, std::wstring>);
	fs::path p = L"z\x00e4hler-\xD83D\xDE00";
	std::wstring s = p;
	CHECK(takes(p) == s && takes_pointer(p.c_str()) == 9 && p == s && p.native() == s);
	CHECK(p.string() == "z\303\244hler-\360\237\230\200" && fs::path(p.string()) == p);
	CHECK(p.u16string() == u"z\u00e4hler-\U0001F600" && p.u32string() == U"z\u00e4hler-\U0001F600");
	CHECK(fs::path(p.u32string()) == p && fs::path(p.u16string()) == p && fs::u8path("\303\244") == L"\x00e4");
	CHECK(fs::path(std::string_view("abc").begin(), std::string_view("abc").end()) == "abc");
	CHECK(fs::path(std::wstring_view(L"abc")) == L"abc" && fs::path("abc", fs::path::generic_format) == "abc");
	std::wstringstream w;
	w << fs::path(L"a b");
	CHECK(w.str() == L"\"a b\"" && (w >> p) && p == L"a b");
	std::ostringstream n;
	n << p;
	CHECK(n.str() == "\"a b\"");
	std::set<fs::path> set{L"b", L"a"};
	std::unordered_set<fs::path> hashed{L"a/b", L"a//b"};
	CHECK(*set.begin() == L"a" && hashed.size() == 1);
	p += L'c';
	p += "d";
	IS(p, L"a bcd");
}

static void parts()
{
	fs::path p(L"C:\\dir\\sub\\file.tar.gz");
	IS(p.root_name(), L"C:");
	IS(p.root_directory(), L"\\");
	IS(p.root_path(), L"C:\\");
	IS(p.relative_path(), L"dir\\sub\\file.tar.gz");
	IS(p.parent_path(), L"C:\\dir\\sub");
	IS(p.filename(), L"file.tar.gz");
	IS(p.stem(), L"file.tar");
	IS(p.extension(), L".gz");
	CHECK(p.is_absolute() && p.has_extension() && fs::path(L"/x").is_absolute() && fs::path(L"C:x").is_relative());
	IS(fs::path(L"/a/b/"), L"/a/b/");
	IS(fs::path(L"/a/b/").parent_path(), L"/a/b");
	IS(fs::path(L"/a").parent_path(), L"/");
	IS(fs::path(L"/").parent_path(), L"/");
	IS(fs::path(L"a").parent_path(), L"");
	IS(fs::path(L"\\\\server\\share").root_name(), L"\\\\server");
	IS(fs::path(L".hidden").extension(), L"");
	IS(fs::path(L"..").extension(), L"");
	IS(fs::path(L"a.").extension(), L".");
	IS(fs::path(L"dir.x/file").extension(), L"");
	IS(fs::path(L"a/b") / L"c", L"a/b/c");
	IS(fs::path(L"a/") / L"c", L"a/c");
	IS(fs::path(L"a") / L"", L"a/");
	IS(fs::path(L"a") / L"/c", L"/c");
	IS(fs::path(L"C:/a") / L"D:b", L"D:b");
	IS(fs::path(L"C:/a") / L"C:b", L"C:/a/b");
	IS(fs::path(L"") / L"c", L"c");
	IS(fs::path(L"a/b.txt").replace_extension(L"etl"), L"a/b.etl");
	IS(fs::path(L"a/b.txt").replace_extension(), L"a/b");
	IS(fs::path(L"a/b.txt").replace_filename(L"c"), L"a/c");
	IS(fs::path(L"a\\b").make_preferred(), L"a/b");
	CHECK(fs::path(L"a\\b").generic_string() == "a/b" && fs::path(L"a\\b") == fs::path(L"a//b"));
	CHECK(fs::path(L"a/b") < fs::path(L"a/c") && fs::path(L"a") != fs::path(L"/a") &&
	      fs::path(L"a").compare(L"b") < 0);
	std::wstring all;
	for (const fs::path &x : fs::path(L"C:/a//b/")) {
		all += x.native() + L"|";
	}
	CHECK(all == L"C:|/|a|b||");
	auto end = p.end();
	IS(*--end, L"file.tar.gz");
	CHECK(std::distance(p.begin(), p.end()) == 5);
	IS(fs::path(L"/a/./b/../c/").lexically_normal(), L"/a/c/");
	IS(fs::path(L"../a/..").lexically_normal(), L"..");
	IS(fs::path(L"a/..").lexically_normal(), L".");
	IS(fs::path(L"a/b/..").lexically_normal(), L"a/");
	IS(fs::path(L"/..").lexically_normal(), L"/");
	IS(fs::path(L"/a/d").lexically_relative(L"/a/b/c"), L"../../d");
	IS(fs::path(L"/a/b/c").lexically_relative(L"/a"), L"b/c");
	IS(fs::path(L"a").lexically_relative(L"a"), L".");
	IS(fs::path(L"a").lexically_relative(L"/a"), L"");
}

static void write(const fs::path &p, const char *text)
{
	std::ofstream f(p);
	f << text;
}

static void operations()
{
	std::error_code e;
	fs::path top = fs::temp_directory_path() / (L"etw-fs-" + std::to_wstring(GetCurrentProcessId()));
	fs::remove_all(top, e);
	CHECK(fs::create_directories(top / L"one/tw\x00f6") && !fs::create_directories(top / L"one/tw\x00f6"));
	CHECK(fs::is_directory(top) && fs::exists(top / L"one\\tw\x00f6") && !fs::exists(top / "none"));
	fs::path file = top / L"one" / L"f\x20ac.txt";
	write(file, "hello");
	CHECK(fs::file_size(file) == 5 && fs::is_regular_file(file) && !fs::is_empty(file));
	CHECK(GetFileAttributesW(file.c_str()) != INVALID_FILE_ATTRIBUTES);
	std::wstring text;
	std::wifstream(file) >> text;
	CHECK(text == L"hello");
	CHECK(fs::copy_file(file, top / "copy") && !fs::copy_file(file, top / "copy", e) &&
	      e == std::errc::file_exists);
	CHECK(fs::copy_file(file, top / "copy", fs::copy_options::overwrite_existing));
	CHECK(!fs::copy_file(file, top / "copy", fs::copy_options::skip_existing));
	fs::resize_file(top / "copy", 2);
	CHECK(fs::file_size(top / "copy") == 2);
	fs::rename(top / "copy", top / L"moved");
	CHECK(!fs::exists(top / "copy") && fs::exists(top / "moved"));
	fs::create_symlink(L"moved", top / "link");
	CHECK(fs::is_symlink(top / "link") && fs::read_symlink(top / "link") == L"moved");
	CHECK(fs::equivalent(top / "link", top / "moved") &&
	      fs::canonical(top / "link") == fs::canonical(top) / "moved");
	fs::create_hard_link(top / "moved", top / "hard");
	CHECK(fs::hard_link_count(top / "hard") == 2);
	fs::permissions(top / "hard", fs::perms::owner_read);
	CHECK(fs::status(top / "moved").permissions() == fs::perms::owner_read);
	fs::permissions(top / "hard", fs::perms::owner_write, fs::perm_options::add);
	CHECK(fs::status(top / "hard").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
	auto then = fs::last_write_time(file) - std::chrono::hours(24);
	fs::last_write_time(file, then);
	CHECK(fs::last_write_time(file) - then < std::chrono::seconds(1) &&
	      then - fs::last_write_time(file) < std::chrono::seconds(1));

	std::set<fs::path> flat, deep;
	for (const auto &d : fs::directory_iterator(top)) {
		flat.insert(d.path().filename());
	}
	CHECK(flat == std::set<fs::path>{L"one", L"moved", L"link", L"hard"});
	int depth = 0;
	for (auto i = fs::recursive_directory_iterator(top); i != fs::recursive_directory_iterator(); ++i) {
		deep.insert(i->path().lexically_relative(top));
		depth = std::max(depth, i.depth());
	}
	CHECK(deep.size() == 6 && deep.count(L"one/f\x20ac.txt") == 1 && depth == 1);
	fs::copy(top / "one", top / "all", fs::copy_options::recursive);
	CHECK(fs::exists(top / L"all/tw\x00f6") && fs::file_size(top / L"all" / file.filename()) == 5);
	CHECK(fs::is_empty(top / L"all/tw\x00f6") && fs::space(top).capacity > 0);
	CHECK(fs::weakly_canonical(top / "one/../none/x") == fs::canonical(top) / "none/x");
	fs::current_path(top);
	CHECK(fs::equivalent(fs::current_path(), top) && fs::absolute(L"x") == fs::current_path() / "x");
	CHECK(fs::remove("hard") && !fs::remove(L"hard"));
	bool threw = false;
	try {
		(void)fs::file_size(L"none");
	} catch (const fs::filesystem_error &x) {
		threw = x.path1() == L"none" && x.code() == std::errc::no_such_file_or_directory && x.what()[0];
	}
	CHECK(threw && fs::file_size(L"none", e) == uintmax_t(-1) && e);
	CHECK(fs::directory_iterator(L"none", e) == fs::directory_iterator() && e);
	fs::current_path("/");
	CHECK(fs::remove_all(top) == 9 && !fs::exists(top) && fs::remove_all(top) == 0);
}

/* Names of files: literals, strings, paths; with a drive letter and the other separator. */
static void streams()
{
	fs::path p = fs::temp_directory_path() / (L"etw-\x00fc-" + std::to_wstring(GetCurrentProcessId()));
	std::wstring name = p, odd = L"C:" + name;
	std::replace(odd.begin(), odd.end(), L'/', L'\\');
	std::string bytes;
	std::wstring line;
	{
		std::wofstream f(name.c_str());
		f << L"Zeile \x20ac\n";
	}
	std::wifstream a(name), b(odd), c(p);
	std::wifstream d;
	d.open(odd, std::ios::in);
	CHECK(a.is_open() && b.is_open() && c.is_open() && d.is_open());
	CHECK(std::getline(b, line) && line == L"Zeile \x20ac");
	std::ifstream n(odd.c_str());
	CHECK(std::getline(n, bytes) && bytes == "Zeile \342\202\254");
	std::fstream both(name, std::ios::in | std::ios::out);
	CHECK(both.is_open() && !std::ifstream(L"/none/such").is_open());
	std::ofstream narrow(p.string());
	CHECK(narrow.is_open());
	fs::remove(p);
}

int main()
{
	strings();
	parts();
	operations();
	streams();
	return failed;
}
