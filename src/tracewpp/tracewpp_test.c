/* SPDX-License-Identifier: MIT */
#include "tracewpp/tracewpp.h"

#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

/* What the .tmf file of a source says. */
static const char *compile(struct tracewpp *w, const char *text, struct diag *d, int *ret)
{
	struct tracewpp_options o = {.component = "test"};
	struct strbuf tmh = {0};
	diag_clear(d);
	*ret = tracewpp_compile(w, "a.c", text, strlen(text), &o, &tmh, d);
	strbuf_finish(&tmh);
	return tracewpp_formats(w);
}

static void check(const char *source, const char *wanted)
{
	struct diag d;
	int err;
	struct tracewpp *w = tracewpp_create();
	assert_non_null(w);
	const char *formats = compile(w, source, &d, &err);
	if (err < 0) {
		fail_msg("%s\n%u:%u: %s", source, d.line, d.column, d.text);
	}
	if (!strstr(formats, wanted)) {
		fail_msg("%s\nno '%s' in:\n%s", source, wanted, formats);
	}
	tracewpp_destroy(w);
}

static void formats_are_those_of_tmf_files(void **state)
{
	check("void f(void)\n{\n\tDoTraceMessage(X, \"a %d b\", 1);\n}\n",
	      "#typev a_c3 10 \"%0a %10!d! b\" //   LEVEL=X FUNC=f\n{\nArg, ItemLong -- 10\n}\n");
	check("int f() { DoTraceMessage(X, \"%s\" \"%-8.3s%%\\n\", a, b); }",
	      "\"%0%10!s!%11!-8.3s!%%\" //   LEVEL=X FUNC=f\n{\nArg, ItemString -- 10\nArg, "
	      "ItemString -- 11\n}");
	check("DoTraceMessage(X, \"%08I64x %!status! %ws\", a, (b, c), g[h, i]);", "\"%0%10!08I64x! %11!s! %12!s!\"");
	check("DoTraceMessage(A | B, L\"%u\\ttab\", f(\"(,\", ')'));", "\"%0%10!u!%ttab\" //   LEVEL=A|B");
	check("DoTraceMessage(X, R\"(no \\ %d)\", 1);", "\"%0no \\ %10!d!\"");
	check("\n\nDoTraceMessage\n(X,\n\"in line 3\");", "a_c3 10 ");
}

static void functions_around_calls_have_names(void **state)
{
#define CALL "{ DoTraceMessage(X, \"\"); }"
	static const struct {
		const char *source, *function;
	} cases[] = {
		{"void f(int a)" CALL, "FUNC=f\n"},
		{"static inline T *f(a, b) int a, b;" CALL, ""}, /* of before C89: nobody's */
		{"int C::m(int) const noexcept" CALL, "FUNC=C::m\n"},
		{"C::C(int a) : b(a), c(1)" CALL, "FUNC=C::C\n"},
		{"C::~C()" CALL, "FUNC=C::~C\n"},
		{"namespace n { class K { void m()" CALL "}; }", "FUNC=m\n"},
		{"extern \"C\" { int g()" CALL "}", "FUNC=g\n"},
		{"__attribute__((noinline)) __declspec(x) void h(void)" CALL, "FUNC=h\n"},
		{"_Use_decl_annotations_ STDMETHODIMP_(ULONG) K::AddRef()" CALL, "FUNC=K::AddRef\n"},
		{"int a[] = {1, 2}; struct s { int x; }; void k()" CALL, "FUNC=k\n"},
		{"void a() { if (x) { y(); } } void b()" CALL, "FUNC=b\n"},
		{"#if A\nvoid one() {\n#else\nvoid two() {\n#endif\nx();}\nvoid b()" CALL, "FUNC=b\n"},
		{"#define M() {{{\nvoid b() { /* } */ s(\"}\", '}');" CALL "}", "FUNC=b\n"},
		{"void b() { for (;;) { while (x) { auto l = [](int q) " CALL ";}}}", "FUNC=b\n"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		check(cases[i].source, cases[i].function);
	}
}

static void configuration_makes_trace_functions(void **state)
{
	check("// begin_wpp config\n// FUNC T{LEVEL=ERR}(FLAGS, MSG, ...);\n// end_wpp\nvoid f() "
	      "{\nT(F1, \"%d\", 1);\n}",
	      "a_c5 10 \"%0%10!d!\" //   LEVEL=ERR FLAGS=F1 FUNC=f\n");
	check("/* begin_wpp config\n   FUNC E{LEVEL=V}(FLAGS);\n   USEPREFIX (E, \"%!STDPREFIX! "
	      "[%!FUNC!] \");\n"
	      "   USESUFFIX (E, \"in %!HRESULT!\", Last());\n   end_wpp */\nE(F1);",
	      "\"%0 [%!FUNC!] in %10!s!\" //   LEVEL=V FLAGS=F1\n{\nArg, ItemHRESULT -- 10\n}");
	check("// begin_wpp config\n// FUNC P((MSG, ...));\n// CUSTOM_TYPE(Day, "
	      "ItemListByte(mon,tue));\n// end_wpp\n"
	      "P((\"%!Day!\", d));",
	      "Arg, ItemListByte(mon,tue) -- 10");
	check("// begin_wpp config\n// FUNC I(LEVEL, FLAG, (MSG, ...));\n// end_wpp\n"
	      "I(E, F1, (\"%d\" \" of %d\", (a, b), c)); I(E, F1, (\"\"));",
	      "\"%0%10!d! of %11!d!\" //   LEVEL=E FLAGS=F1\n");
	check("typedef enum _State { Off = 0, Half, On, } State;\n// begin_wpp config\n"
	      "// CUSTOM_TYPE(s, ItemEnum(_State));\n// CUSTOM_TYPE(t, ItemEnum(State));\n// "
	      "end_wpp\n"
	      "DoTraceMessage(X, \"%!s! %!t!\", a, b);",
	      "Arg, ItemListLong(Off,Half,On) -- 10\nArg, ItemListLong(Off,Half,On) -- 11");
	check("enum class E { A = 1, B };\n// begin_wpp config\n// CUSTOM_TYPE(e, "
	      "ItemEnum(E));\n// end_wpp\n"
	      "DoTraceMessage(X, \"%!e!\", a);",
	      "Arg, ItemEnum(E) -- 10");
	/* Statements of Windows' own configuration file, and functions without the word FUNC. */
	check("// begin_wpp config\n// T(LEVEL, MSG, ...);  remarks (of any kind)\n"
	      "// USEPREFIX(*, \"%!STDPREFIX!\"); NOPREFIX(T);\n"
	      "// DEFINE_FLAVOR(hx8, ULONG, ItemULongX, \"08X\", win:HexInt32);\n"
	      "// DEFINE_FLAVOR(mine, s,,);\n// DEFINE_SIMPLE_TYPE(FUNC, , , \"%!FUNC!\", ,);\n"
	      "// DEFINE_BUILTIN_LEVEL(win:Error, 2, W); TRACERANGE(10, 20);\n// end_wpp\n"
	      "T(E, \"%!hx8! %!mine! %!FUNC!\", a, b);",
	      "10 \"%10!08X! %11!s! %!FUNC!\" //   LEVEL=E\n{\nArg, ItemULongX -- 10\nArg, "
	      "ItemString -- 11\n}");
	check("DoTraceMessage(X, \"%!b1! %!bool16! %ho %!wstr! %!WSTR!\", a, b, c, d, e);",
	      "{\nArg, ItemSetByte(1,2,3,4,5,6,7,8) -- 10\nArg, ItemListShort(false,true) -- 11\n"
	      "Arg, ItemUShort -- 12\nArg, ItemPWString -- 13\nArg, ItemWString -- 14\n}");
	check("// begin_wpp config\n// DEFINE_CPLX_TYPE(BLOB, WPP_LOGBLOB, blob_t, ItemHexDump, "
	      "\"s\", _blob_, 0, 2);\n"
	      "// DEFINE_SIMPLE_TYPE(HANDLE, HANDLE, ItemPtr, \"p\", _handle_, 0);\n// end_wpp\n"
	      "DoTraceMessage(X, \"%!BLOB! %!HANDLE!\", b, h);",
	      "\"%0%10!s! %11!p!\"");
}

static void mistakes_have_their_place(void **state)
{
	static const struct {
		const char *source;
		uint32_t line, column;
		const char *text;
	} cases[] = {
		{"\n  DoTraceMessage(X, \"%d\");", 2, 3, "0 arguments for 1 conversion"},
		{"DoTraceMessage(X, \"\", 1);", 1, 1, "1 argument for 0 conversions"},
		{"DoTraceMessage(X, fmt, 1);", 1, 1, "string literal"},
		{"DoTraceMessage(X);", 1, 1, "arguments are missing"},
		{"DoTraceMessage();", 1, 1, "arguments are missing"},
		{"DoTraceMessage(X, \"%!NO!\", 1);", 1, 1, "%!NO! is not known"},
		{"DoTraceMessage(X, \"%!STATUS\", 1);", 1, 1, "not closed"},
		{"DoTraceMessage(X, \"%*d\", 1, 2);", 1, 1, "width of *"},
		{"DoTraceMessage(X, \"%y\", 1);", 1, 1, "'%y' is not known"},
		{"DoTraceMessage(X, \"a", 1, 1, "is missing"},
		{"DoTraceMessage(X, \"%d\", 1); DoTraceMessage(X, \"%s\", s);", 1, 29, "two trace calls"},
		{"// begin_wpp config\n// FUNC A(LEVEL;\n// end_wpp\n", 2, 1, "FUNC A"},
		{"// begin_wpp config\n// FUNC A(MSG, LEVEL);\n// end_wpp\n", 2, 1, "after MSG"},
		{"// begin_wpp config\n// FUNC I(L, (MSG, ...));\n// end_wpp\nI(E, \"\");", 4, 1,
		 "brackets of their own"},
		{"// begin_wpp config\n// SCANFORMACROS(\"a.h\");\n// end_wpp\n", 2, 1, "name that file with"},
		{"// begin_wpp config\n// DEFINE_FLAVOR(a, b);\n// end_wpp\n", 2, 1, "no type b"},
		{"// begin_wpp config\n// USEPREFIX(A);\n// end_wpp\n", 2, 1, "a text is expected"},
	};
	struct diag d;
	int err;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct tracewpp *w = tracewpp_create();
		compile(w, cases[i].source, &d, &err);
		if (err != -EBADMSG || d.line != cases[i].line || d.column != cases[i].column ||
		    !strstr(d.text, cases[i].text)) {
			fail_msg("%s\n%d, %u:%u: %s", cases[i].source, err, d.line, d.column, d.text);
		}
		tracewpp_destroy(w);
	}
}

static void what_a_source_says_holds_for_it_alone(void **state)
{
	struct diag d;
	int err;
	struct tracewpp *w = tracewpp_create();
	static const char shared[] = "// begin_wpp config\n// FUNC T{LEVEL=ALL}(FLAGS, MSG, ...);\n// end_wpp\n";
	assert_int_equal(tracewpp_scan(w, shared, sizeof shared - 1, &d), 0);
	const char *s = compile(w,
				"// begin_wpp config\n// FUNC T{LEVEL=OWN}(FLAGS, MSG, ...);\n// "
				"end_wpp\nT(F, \"\");",
				&d, &err);
	assert_int_equal(err, 0);
	assert_non_null(strstr(s, "LEVEL=OWN"));
	s = compile(w, "T(F, \"\");", &d, &err);
	assert_int_equal(err, 0);
	assert_non_null(strstr(s, "LEVEL=ALL"));
	assert_int_equal(tracewpp_calls(w), 1);
	assert_int_equal(tracewpp_add_function(w, "U(FLAGS, MSG, ...)", &d), 0);
	assert_int_equal(tracewpp_add_function(w, "U(FLAGS", &d), -EBADMSG);
	tracewpp_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_those_of_tmf_files),
		cmocka_unit_test(functions_around_calls_have_names),
		cmocka_unit_test(configuration_makes_trace_functions),
		cmocka_unit_test(mistakes_have_their_place),
		cmocka_unit_test(what_a_source_says_holds_for_it_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
