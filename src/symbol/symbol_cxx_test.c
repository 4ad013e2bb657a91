/* SPDX-License-Identifier: MIT
 *
 * Names of C++ as c++filt writes them, and names that would fill the memory of whoever wrote them out.
 */
#include "symbol/symbol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#define PIECES    64u
#define MEMORY_KB 65536 /* more than any name may take */

/* Each line of the ABI's grammar at least once; the last ones are names that nobody has. */
static void every_kind_of_name_reads_as_other_tools_write_it(void **state)
{
	static const char *const names[][2] = {
		{"_Z3foov", "foo()"},
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_ZNK1A1fERKS_", "A::f(A const&) const"},
		{"_ZNKR1A1fEv", "A::f() const &"},
		{"_ZNO1A1fEv", "A::f() &&"},
		{"_ZN1AC2Ev", "A::A()"},
		{"_ZN1AD0Ev", "A::~A()"},
		{"_ZN1AIiEC1ERKS0_", "A<int>::A(A<int> const&)"},
		{"_ZNSsC1ERKSs", "std::basic_string<char, std::char_traits<char>, std::allocator<char> "
				 ">::basic_string(std::string const&)"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"_ZNKSt3__16vectorIbNS_9allocatorIbEEE4sizeEv",
		 "std::__1::vector<bool, std::__1::allocator<bool> >::size() const"},
		{"_ZlsRSoRK3Foo", "operator<<(std::ostream&, Foo const&)"},
		{"_ZNK1AcviEv", "A::operator int() const"},
		{"_ZN1AcvT_IiEEv", "A::operator int<int>()"},
		{"_ZN1AcvSt6vectorIT_SaIS2_EEIiEEv", "_ZN1AcvSt6vectorIT_SaIS2_EEIiEEv"},
		{"_ZnwmRKSt9nothrow_t", "operator new(unsigned long, std::nothrow_t const&)"},
		{"_ZN1AdlEPv", "A::operator delete(void*)"},
		{"_ZN1AclEii", "A::operator()(int, int)"},
		{"_ZN1AixEi", "A::operator[](int)"},
		{"_Zli2_xPKc", "operator\"\" _x(char const*)"},
		{"_Z1fPFvvE", "f(void (*)())"},
		{"_Z1fM1AFivE", "f(int (A::*)())"},
		{"_Z1fM1AKFivE", "f(int (A::*)() const)"},
		{"_Z1fRA3_i", "f(int (&) [3])"},
		{"_Z1fPA3_A4_i", "f(int (*) [3][4])"},
		{"_Z1fPPFPFicEdE", "f(int (*(**)(double))(char))"},
		{"_Z1fA3_PFvvE", "f(void (* [3])())"},
		{"_Z3fooiPFvRKSsz", "_Z3fooiPFvRKSsz"},
		{"_Z3fooIiEPFvT_EPS1_", "void (*foo<int>(void (*)(int)))(int)"},
		{"_ZTV1A", "vtable for A"},
		{"_ZTIPKc", "typeinfo for char const*"},
		{"_ZTS1A", "typeinfo name for A"},
		{"_ZThn16_N1A1fEv", "non-virtual thunk to A::f()"},
		{"_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()"},
		{"_ZTch0_h16_N1A1fEv", "covariant return thunk to A::f()"},
		{"_ZTC1A8_1B", "construction vtable for B-in-A"},
		{"_ZGVZ1fvE1x", "guard variable for f()::x"},
		{"_ZTW1x", "TLS wrapper function for x"},
		{"_ZZ1fvE1x_0", "f()::x"},
		{"_ZZ1fvEs", "f()::string literal"},
		{"_ZZ1fvENKUlvE_clEv", "f()::{lambda()#1}::operator()() const"},
		{"_ZZ1fvENKUliE0_clEi", "f()::{lambda(int)#2}::operator()(int) const"},
		{"_ZZN1A1fEiEd_NKUlvE_clEv", "A::f(int)::{default arg#1}::{lambda()#1}::operator()() const"},
		{"_ZZ1fvENKUlT_E_clIiEEDaS_", "auto f()::{lambda(auto:1)#1}::operator()<int>(int) const"},
		{"_ZN1AUt_1fEv", "A::{unnamed type#1}::f()"},
		{"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()"},
		{"_Z1fB5cxx11v", "f[abi:cxx11]()"},
		{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_",
		 "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
		 ">::basic_string(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
		 "const&)"},
		{"_Z1fIJicdEEvDpT_", "void f<int, char, double>(int, char, double)"},
		{"_Z1fIJEEvDpT_", "void f<>()"},
		{"_Z1fIJicEEvDpRKSt4pairIT_iE",
		 "void f<int, char>(std::pair<int, int> const&, std::pair<char, int> const&)"},
		{"_Z1fIiEvOT_", "void f<int>(int&&)"},
		{"_Z1fIRiEvOT_", "void f<int&>(int&)"},
		{"_Z1fIOiERKT_S2_", "int&& const& f<int&&>(int&& const)"},
		{"_Z1fIA4_cEvRKT_", "void f<char [4]>(char const (&) [4])"},
		{"_Z1fIFvvEEvRT_", "void f<void ()>(void (&)())"},
		{"_Z1fILi3ELin3ELj3ELl3ELm3ELb1ELc97EEvv", "void f<3, -3, 3u, 3l, 3ul, true, (char)97>()"},
		{"_Z1fILd4000000000000000EEvv", "void f<(double)[4000000000000000]>()"},
		{"_Z1fILDn0EEvv", "void f<(decltype(nullptr))0>()"},
		{"_Z1fIXadL_Z1gvEEEvv", "void f<&(g())>()"},
		{"_Z1fIXadL_ZN1A1gEvEEEvv", "void f<&A::g>()"},
		{"_Z1fIXplLi1ELi2EEEvv", "void f<(1)+(2)>()"},
		{"_Z1fIXgtLi1ELi2EEEvv", "void f<((1)>(2))>()"},
		{"_Z1fIiEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) f<int>(int)"},
		{"_Z1fIiEDTcl1gfp_EET_", "decltype (g({parm#1})) f<int>(int)"},
		{"_Z1fIiEDTcvT_fp_ES0_", "decltype ((int){parm#1}) f<int>(int)"},
		{"_Z1fIiEDTcldtfp_1gEET_", "decltype (({parm#1}.g)()) f<int>(int)"},
		{"_Z1fIiEDTscT_fp_ES0_", "decltype (static_cast<int>({parm#1})) f<int>(int)"},
		{"_Z1fIiEDTquLb1Efp_Li0EET_", "decltype ((true)?{parm#1} : (0)) f<int>(int)"},
		{"_Z1fIiEDTnw_T_EES0_", "decltype (new int) f<int>(int)"},
		{"_Z1fIiEDTppfp_ET_", "decltype ({parm#1}++) f<int>(int)"},
		{"_Z1fIiEDTpp_fp_ET_", "decltype (++{parm#1}) f<int>(int)"},
		{"_Z1fIiEDTixfp_Li0EET_", "decltype ({parm#1}[0]) f<int>(int)"},
		{"_Z1fIiEDTstT_ES0_", "decltype (sizeof (int)) f<int>(int)"},
		{"_Z1fIJiEEDTsZT_EDpT_", "decltype (1) f<int>(int)"},
		{"_Z1fIJiEEDTfrplT_EDpT_", "decltype (((int)+...)) f<int>(int)"},
		{"_Z1fIJiEEDTflplT_EDpT_", "decltype ((...+(int))) f<int>(int)"},
		{"_Z1fIiENSt9enable_ifIXsr3std13is_integral_vIT_EEiE4typeES1_",
		 "std::enable_if<std::is_integral_v<int>, int>::type f<int>(std)"},
		{"_Z1fIiENSt9enable_ifIXsr11is_integralIT_EE5valueEiE4typeES1_",
		 "std::enable_if<is_integral<int>::value, int>::type f<int>(int)"},
		{"_Z1fIiEDTsrT_1xES0_", "decltype (int::x) f<int>(int)"},
		{"_Z1fIiEDTtlT_Li1ELi2EEES0_", "decltype (int{1, 2}) f<int>(int)"},
		{"_Z1fDv4_f", "f(float __vector(4))"},
		{"_Z1fDv_Li4E_f", "f(float __vector(4))"},
		{"_Z1fCf", "f(float _Complex)"},
		{"_Z1fu6__int8", "f(__int8)"},
		{"_Z1fU8myattrsPi", "f(int myattrsP)"},
		{"_Z1fDnDiDsDa", "f(decltype(nullptr), char32_t, char16_t, auto)"},
		{"_Z1fPDoFvvE", "f(void (*)() noexcept)"},
		{"_Z1fPDOLb1EEFvvE", "f(void (*)() noexcept(true))"},
		{"_Z1fPDwiEFvvE", "f(void (*)() throw(int))"},
		{"_Z1fPKDoFvvE", "f(void (*)() noexcept const)"},
		{"_Z1fPDxFvvE", "f(void (*)() transaction_safe)"},
		{"_Z1fPKcS0_", "f(char const*, char const*)"},
		{"_Z1fPVKi", "f(int const volatile*)"},
		{"_Z1fPrVKi", "f(int const volatile restrict*)"},
		{"_Z3foov.cold", "foo() [clone .cold]"},
		{"_Z3foov.isra.0.cold.1", "foo() [clone .isra.0] [clone .cold.1]"},
		{"_Z1fIN1A1BEEvT_NS1_1CE", "void f<A::B>(A::B, A::B::C)"},
		{"_ZN1aDC1b1cEE", "a::[b, c]"},
		{"_ZGR1x_", "reference temporary #0 for x"},
		{"_ZGRL1x0_", "reference temporary #1 for x"},
		{"_Z1fINS_1AEEvT_", "void f<f::A>(f::A)"},
		{"_ZStplIcSt11char_traitsIcESaIcEENSt7__cxx1112basic_stringIT_T0_T1_EEOS8_PKS5_",
		 "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > std::operator+<char, "
		 "std::char_traits<char>, std::allocator<char> >(std::__cxx11::basic_string<char, "
		 "std::char_traits<char>, std::allocator<char> >&&, char const*)"},
		{"_ZN9__gnu_cxx13new_allocatorISt13_Rb_tree_nodeISt4pairIKiSsEEE9constructIS5_JRKSt21piecewise_"
		 "construct_tSt5tupleIJRS3_EESB_IJEEEEEvPT_DpOT0_",
		 "void __gnu_cxx::new_allocator<std::_Rb_tree_node<std::pair<int const, std::string> > "
		 ">::construct<std::_Rb_tree_node<std::pair<int const, std::string> >, std::piecewise_construct_t "
		 "const&, std::tuple<int const&>, std::tuple<> >(std::_Rb_tree_node<std::pair<int const, std::string> "
		 ">*, std::piecewise_construct_t const&, std::tuple<int const&>&&, std::tuple<>&&)"},
		{"_Z1fIiLi0ETtTyE1ATpTy", "_Z1fIiLi0ETtTyE1ATpTy"},
		{"_Z1fITnPFT_vELi0EEvv", "void f<0>()"},
		{"_ZN1xIiEcvT_IdEEv", "x<int>::operator double<double>()"},
		{"_Z1fIiET_S0_QLb1E", "int f<int>(int)"},
		{"_Z1fDF16_", "f(_Float16)"},
		{"_Z1fDB8_DU8_", "f(signed _BitInt(8), unsigned _BitInt(8))"},
		{"_Z1fZ1gvEUlvE_", "f(g()::{lambda()#1})"},
		{"_ZN1A1BIiE1fIcEET_v", "char A::B<int>::f<char>()"},
		{"_Z1fIM1AFvvEEvT_", "void f<void (A::*)()>(void (A::*)())"},
		{"_Z1fIM1AKFvvEEvT_", "void f<void (A::*)() const>(void (A::*)() const)"},
		{"_Z1fIPFvvEEvRKT_", "void f<void (*)()>(void (* const&)())"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		char *name = symbol_demangle(names[i][0]);
		assert_string_equal(name, names[i][1]);
		free(name);
	}
}

/* ---- names that grow ---------------------------------------------------------------------------- */

static void refer(struct strbuf *b, unsigned to)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	strbuf_addc(b, 'S');
	if (to > 36) {
		strbuf_addc(b, digits[(to - 1) / 36]);
	}
	if (to > 0) {
		strbuf_addc(b, digits[(to - 1) % 36]);
	}
	strbuf_addc(b, '_');
}

/* A<int, int>, then A of twice that, and so on: each line of text is twice as long as the one before. */
static void doubled_arguments(struct strbuf *b, unsigned times)
{
	strbuf_adds(b, "_Z1f1AIiiE");
	for (unsigned i = 0; i < times; i++) {
		strbuf_adds(b, "S_I");
		refer(b, i + 1);
		refer(b, i + 1);
		strbuf_addc(b, 'E');
	}
}

/* Pointers to functions of two of the pointers before. With a pack around them, all are searched for a
 * parameter that is not there, before anything is written. */
static void doubled_functions(struct strbuf *b, unsigned times, const char *head)
{
	unsigned known = 2;
	strbuf_adds(b, head);
	for (unsigned i = 0; i < times; i++) {
		strbuf_adds(b, "PFv");
	}
	strbuf_adds(b, "PFviiE");
	for (unsigned i = 0; i < times; i++, known += 2) {
		refer(b, known);
		strbuf_addc(b, 'E');
	}
}

/* A parameter whose argument is twice the parameter before. */
static void doubled_lambdas(struct strbuf *b, unsigned times)
{
	strbuf_adds(b, "_Z1fIiEvT_");
	for (unsigned i = 0; i < times; i++) {
		strbuf_adds(b, "PFv");
		refer(b, 2 * i + 1);
		refer(b, 2 * i + 1);
		strbuf_addc(b, 'E');
	}
}

/* Each part can be read in two ways, both in vain. */
static void doubtful_scopes(struct strbuf *b, unsigned times)
{
	strbuf_adds(b, "_Z1fIX");
	for (unsigned i = 0; i < times; i++) {
		strbuf_adds(b, "srNDT");
	}
}
static void doubtful_conversions(struct strbuf *b, unsigned times)
{
	strbuf_adds(b, "_ZN1A");
	for (unsigned i = 0; i < times; i++) {
		strbuf_adds(b, "cvT_IN1A");
	}
}

static void deep(struct strbuf *b, const char *head, const char *piece, const char *middle, const char *close,
		 unsigned times)
{
	strbuf_adds(b, head);
	for (unsigned i = 0; i < times; i++) {
		strbuf_adds(b, piece);
	}
	strbuf_adds(b, middle);
	for (unsigned i = 0; i < times; i++) {
		strbuf_adds(b, close);
	}
}

static void stays_as_it_is(struct strbuf *b)
{
	char *name = symbol_demangle(b->s);
	assert_string_equal(name, b->s);
	free(name);
	strbuf_finish(b);
}

static long peak_kb(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void a_name_that_stands_for_gigabytes_of_text_stays_as_it_is(void **state)
{
	long before = peak_kb();
	/* Below 345 bytes; the other demanglers take gigabytes for 27 doublings. */
	for (unsigned times = 18; times <= PIECES; times++) {
		struct strbuf b = {0};
		doubled_arguments(&b, times);
		stays_as_it_is(&b);
		doubled_functions(&b, times, "_Z1fIJiEEvDp");
		stays_as_it_is(&b);
		doubled_lambdas(&b, times);
		stays_as_it_is(&b);
		assert_true(peak_kb() - before < MEMORY_KB);
	}
}

static void a_name_that_can_be_read_in_many_ways_stays_as_it_is(void **state)
{
	for (unsigned times = 20; times <= 20 * PIECES; times *= 2) {
		struct strbuf b = {0};
		doubtful_scopes(&b, times);
		stays_as_it_is(&b);
		doubtful_conversions(&b, times);
		stays_as_it_is(&b);
	}
}

static void a_name_that_is_nested_too_deeply_stays_as_it_is(void **state)
{
	struct strbuf b = {0};
	deep(&b, "_Z1f", "P", "i", "", 30000);
	stays_as_it_is(&b);
	deep(&b, "_Z1f", "1AI", "i", "E", 8000);
	stays_as_it_is(&b);
	deep(&b, "_Z1f", "Z1g", "v", "E1x", 5000);
	stays_as_it_is(&b);
	deep(&b, "_Z1fIX", "ng", "Li1E", "", 15000);
	stays_as_it_is(&b);
	deep(&b, "_Z1f", "PFv", "v", "E", 8000);
	stays_as_it_is(&b);
}

static void long_names_are_read(void **state)
{
	struct strbuf b = {0};
	deep(&b, "_ZN", "16a_long_namespace", "1f", "", 200);
	strbuf_adds(&b, "Ev");
	char *name = symbol_demangle(b.s);
	assert_memory_equal(name, "a_long_namespace::", 18);
	free(name);
	strbuf_finish(&b);
	deep(&b, "_Z1f", "1AI", "i", "E", 40);
	name = symbol_demangle(b.s);
	assert_memory_equal(name, "f(A<A<A<", 8);
	free(name);
	strbuf_finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_name_reads_as_other_tools_write_it),
		cmocka_unit_test(a_name_that_stands_for_gigabytes_of_text_stays_as_it_is),
		cmocka_unit_test(a_name_that_can_be_read_in_many_ways_stays_as_it_is),
		cmocka_unit_test(a_name_that_is_nested_too_deeply_stays_as_it_is),
		cmocka_unit_test(long_names_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
