/* SPDX-License-Identifier: MIT
 * Operators and built-in types of the ABI, in the order of their codes.
 */
#include "symbol/symbol_cxx.h"

static const struct cxx_operator operators[] = {{"aN", 2, "&="},
						{"aS", 2, "="},
						{"aa", 2, "&&"},
						{"ad", 1, "&"},
						{"an", 2, "&"},
						{"at", 1, "alignof "},
						{"aw", 1, "co_await "},
						{"az", 1, "alignof "},
						{"cc", 2, "const_cast"},
						{"cl", 2, "()"},
						{"cm", 2, ","},
						{"co", 1, "~"},
						{"dV", 2, "/="},
						{"da", 1, "delete[] "},
						{"dc", 2, "dynamic_cast"},
						{"de", 1, "*"},
						{"dl", 1, "delete "},
						{"ds", 2, ".*"},
						{"dt", 2, "."},
						{"dv", 2, "/"},
						{"eO", 2, "^="},
						{"eo", 2, "^"},
						{"eq", 2, "=="},
						{"fL", 3, "..."},
						{"fR", 3, "..."},
						{"fl", 2, "..."},
						{"fr", 2, "..."},
						{"ge", 2, ">="},
						{"gs", 1, "::"},
						{"gt", 2, ">"},
						{"ix", 2, "[]"},
						{"lS", 2, "<<="},
						{"le", 2, "<="},
						{"ls", 2, "<<"},
						{"lt", 2, "<"},
						{"mI", 2, "-="},
						{"mL", 2, "*="},
						{"mi", 2, "-"},
						{"ml", 2, "*"},
						{"mm", 1, "--"},
						{"na", 3, "new[]"},
						{"ne", 2, "!="},
						{"ng", 1, "-"},
						{"nt", 1, "!"},
						{"nw", 3, "new"},
						{"nx", 1, "noexcept"},
						{"oR", 2, "|="},
						{"oo", 2, "||"},
						{"or", 2, "|"},
						{"pL", 2, "+="},
						{"pl", 2, "+"},
						{"pm", 2, "->*"},
						{"pp", 1, "++"},
						{"ps", 1, "+"},
						{"pt", 2, "->"},
						{"qu", 3, "?"},
						{"rM", 2, "%="},
						{"rS", 2, ">>="},
						{"rc", 2, "reinterpret_cast"},
						{"rm", 2, "%"},
						{"rs", 2, ">>"},
						{"sP", 1, "sizeof..."},
						{"sZ", 1, "sizeof..."},
						{"sc", 2, "static_cast"},
						{"ss", 2, "<=>"},
						{"st", 1, "sizeof "},
						{"sz", 1, "sizeof "},
						{"te", 1, "typeid "},
						{"ti", 1, "typeid "},
						{"tr", 0, "throw"},
						{"tw", 1, "throw "}};

static const struct cxx_type types[] = {
	{"Da", CXX_AS_CAST, "auto", ""},        {"Dc", CXX_AS_CAST, "decltype(auto)", ""},
	{"Dd", CXX_AS_CAST, "decimal64", ""},   {"De", CXX_AS_CAST, "decimal128", ""},
	{"Df", CXX_AS_CAST, "decimal32", ""},   {"Dh", CXX_AS_FLOAT, "half", ""},
	{"Di", CXX_AS_CAST, "char32_t", ""},    {"Dn", CXX_AS_NULLPTR, "decltype(nullptr)", ""},
	{"Ds", CXX_AS_CAST, "char16_t", ""},    {"Du", CXX_AS_CAST, "char8_t", ""},
	{"a", CXX_AS_CAST, "signed char", ""},  {"b", CXX_AS_BOOL, "bool", ""},
	{"c", CXX_AS_CAST, "char", ""},         {"d", CXX_AS_FLOAT, "double", ""},
	{"e", CXX_AS_FLOAT, "long double", ""}, {"f", CXX_AS_FLOAT, "float", ""},
	{"g", CXX_AS_FLOAT, "__float128", ""},  {"h", CXX_AS_CAST, "unsigned char", ""},
	{"i", CXX_AS_INT, "int", ""},           {"j", CXX_AS_INT, "unsigned int", "u"},
	{"l", CXX_AS_INT, "long", "l"},         {"m", CXX_AS_INT, "unsigned long", "ul"},
	{"n", CXX_AS_CAST, "__int128", ""},     {"o", CXX_AS_CAST, "unsigned __int128", ""},
	{"s", CXX_AS_CAST, "short", ""},        {"t", CXX_AS_CAST, "unsigned short", ""},
	{"v", CXX_AS_VOID, "void", ""},         {"w", CXX_AS_CAST, "wchar_t", ""},
	{"x", CXX_AS_INT, "long long", "ll"},   {"y", CXX_AS_INT, "unsigned long long", "ull"},
	{"z", CXX_AS_CAST, "...", ""}};

static int compare(const char *code, char a, char b)
{
	return code[0] != a ? (code[0] < a ? -1 : 1) : code[1] != b ? (code[1] < b ? -1 : 1) : 0;
}

const struct cxx_operator *cxx_operator_find(char a, char b)
{
	size_t low = 0, high = BASE_ARRAY_LEN(operators);
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = compare(operators[mid].code, a, b);
		if (c == 0) {
			return &operators[mid];
		}
		low = c < 0 ? mid + 1 : low;
		high = c < 0 ? high : mid;
	}
	return NULL;
}

const struct cxx_type *cxx_type_find(char a, char b)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(types); i++) {
		if (compare(types[i].code, a, b) == 0) {
			return &types[i];
		}
	}
	return NULL;
}
