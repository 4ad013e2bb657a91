/* SPDX-License-Identifier: MIT
 *
 * Doing something for each argument of a macro, the preprocessor's way. Part of TraceLoggingProvider.h.
 *
 * Every list that travels through TraceLogging starts with one argument that is not part of it (the event
 * name, say). So a variadic part is never empty, and the header needs no comma tricks to pass it on.
 */
#ifndef ETW_TLG_FOREACH_H
#define ETW_TLG_FOREACH_H

#define _tlgPaste(a, b)    _tlgPaste_(a, b)
#define _tlgPaste_(a, b)   a##b
#define _tlgFirst(...)     _tlgFirst_(__VA_ARGS__, 0)
#define _tlgFirst_(a, ...) a
#define _tlgStrip(...)     __VA_ARGS__

/* clang-format off */
/* How many arguments, 1 to 104: the first, 99 of the user, and a few that macros add. */
#define _tlgCount(...) _tlgCount_(__VA_ARGS__, \
	104, 103, 102, 101, 100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86, 85, \
	84, 83, 82, 81, 80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 69, 68, 67, 66, 65, 64, \
	63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, \
	42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, \
	21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define _tlgCount_( \
	a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
	a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, \
	a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, \
	a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, \
	a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, a85, a86, \
	a87, a88, a89, a90, a91, a92, a93, a94, a95, a96, a97, a98, a99, a100, a101, a102, \
	a103, a104, count, ...) count

/*
 * _tlg_EACH(op, first, a, b)    op(2, a) op(1, b)   the first argument is skipped
 * _tlg_FOREACH(op, a, b)        op(2, a) op(1, b)   the list may be empty
 *
 * The number counts down to 1: it only tells the arguments apart.
 */
#define _tlg_EACH(op, ...)    _tlg_EACH_(_tlgPaste(_tlgEach, _tlgCount(__VA_ARGS__)), op, __VA_ARGS__)
#define _tlg_EACH_(f, ...)    f(__VA_ARGS__)
#define _tlg_FOREACH(op, ...) _tlg_EACH(op, 0, ##__VA_ARGS__)

#define _tlgEach1(op, s)
#define _tlgEach2(op, s, a) op(1, a)
#define _tlgEach3(op, s, a, ...) op(2, a) _tlgEach2(op, s, __VA_ARGS__)
#define _tlgEach4(op, s, a, ...) op(3, a) _tlgEach3(op, s, __VA_ARGS__)
#define _tlgEach5(op, s, a, ...) op(4, a) _tlgEach4(op, s, __VA_ARGS__)
#define _tlgEach6(op, s, a, ...) op(5, a) _tlgEach5(op, s, __VA_ARGS__)
#define _tlgEach7(op, s, a, ...) op(6, a) _tlgEach6(op, s, __VA_ARGS__)
#define _tlgEach8(op, s, a, ...) op(7, a) _tlgEach7(op, s, __VA_ARGS__)
#define _tlgEach9(op, s, a, ...) op(8, a) _tlgEach8(op, s, __VA_ARGS__)
#define _tlgEach10(op, s, a, ...) op(9, a) _tlgEach9(op, s, __VA_ARGS__)
#define _tlgEach11(op, s, a, ...) op(10, a) _tlgEach10(op, s, __VA_ARGS__)
#define _tlgEach12(op, s, a, ...) op(11, a) _tlgEach11(op, s, __VA_ARGS__)
#define _tlgEach13(op, s, a, ...) op(12, a) _tlgEach12(op, s, __VA_ARGS__)
#define _tlgEach14(op, s, a, ...) op(13, a) _tlgEach13(op, s, __VA_ARGS__)
#define _tlgEach15(op, s, a, ...) op(14, a) _tlgEach14(op, s, __VA_ARGS__)
#define _tlgEach16(op, s, a, ...) op(15, a) _tlgEach15(op, s, __VA_ARGS__)
#define _tlgEach17(op, s, a, ...) op(16, a) _tlgEach16(op, s, __VA_ARGS__)
#define _tlgEach18(op, s, a, ...) op(17, a) _tlgEach17(op, s, __VA_ARGS__)
#define _tlgEach19(op, s, a, ...) op(18, a) _tlgEach18(op, s, __VA_ARGS__)
#define _tlgEach20(op, s, a, ...) op(19, a) _tlgEach19(op, s, __VA_ARGS__)
#define _tlgEach21(op, s, a, ...) op(20, a) _tlgEach20(op, s, __VA_ARGS__)
#define _tlgEach22(op, s, a, ...) op(21, a) _tlgEach21(op, s, __VA_ARGS__)
#define _tlgEach23(op, s, a, ...) op(22, a) _tlgEach22(op, s, __VA_ARGS__)
#define _tlgEach24(op, s, a, ...) op(23, a) _tlgEach23(op, s, __VA_ARGS__)
#define _tlgEach25(op, s, a, ...) op(24, a) _tlgEach24(op, s, __VA_ARGS__)
#define _tlgEach26(op, s, a, ...) op(25, a) _tlgEach25(op, s, __VA_ARGS__)
#define _tlgEach27(op, s, a, ...) op(26, a) _tlgEach26(op, s, __VA_ARGS__)
#define _tlgEach28(op, s, a, ...) op(27, a) _tlgEach27(op, s, __VA_ARGS__)
#define _tlgEach29(op, s, a, ...) op(28, a) _tlgEach28(op, s, __VA_ARGS__)
#define _tlgEach30(op, s, a, ...) op(29, a) _tlgEach29(op, s, __VA_ARGS__)
#define _tlgEach31(op, s, a, ...) op(30, a) _tlgEach30(op, s, __VA_ARGS__)
#define _tlgEach32(op, s, a, ...) op(31, a) _tlgEach31(op, s, __VA_ARGS__)
#define _tlgEach33(op, s, a, ...) op(32, a) _tlgEach32(op, s, __VA_ARGS__)
#define _tlgEach34(op, s, a, ...) op(33, a) _tlgEach33(op, s, __VA_ARGS__)
#define _tlgEach35(op, s, a, ...) op(34, a) _tlgEach34(op, s, __VA_ARGS__)
#define _tlgEach36(op, s, a, ...) op(35, a) _tlgEach35(op, s, __VA_ARGS__)
#define _tlgEach37(op, s, a, ...) op(36, a) _tlgEach36(op, s, __VA_ARGS__)
#define _tlgEach38(op, s, a, ...) op(37, a) _tlgEach37(op, s, __VA_ARGS__)
#define _tlgEach39(op, s, a, ...) op(38, a) _tlgEach38(op, s, __VA_ARGS__)
#define _tlgEach40(op, s, a, ...) op(39, a) _tlgEach39(op, s, __VA_ARGS__)
#define _tlgEach41(op, s, a, ...) op(40, a) _tlgEach40(op, s, __VA_ARGS__)
#define _tlgEach42(op, s, a, ...) op(41, a) _tlgEach41(op, s, __VA_ARGS__)
#define _tlgEach43(op, s, a, ...) op(42, a) _tlgEach42(op, s, __VA_ARGS__)
#define _tlgEach44(op, s, a, ...) op(43, a) _tlgEach43(op, s, __VA_ARGS__)
#define _tlgEach45(op, s, a, ...) op(44, a) _tlgEach44(op, s, __VA_ARGS__)
#define _tlgEach46(op, s, a, ...) op(45, a) _tlgEach45(op, s, __VA_ARGS__)
#define _tlgEach47(op, s, a, ...) op(46, a) _tlgEach46(op, s, __VA_ARGS__)
#define _tlgEach48(op, s, a, ...) op(47, a) _tlgEach47(op, s, __VA_ARGS__)
#define _tlgEach49(op, s, a, ...) op(48, a) _tlgEach48(op, s, __VA_ARGS__)
#define _tlgEach50(op, s, a, ...) op(49, a) _tlgEach49(op, s, __VA_ARGS__)
#define _tlgEach51(op, s, a, ...) op(50, a) _tlgEach50(op, s, __VA_ARGS__)
#define _tlgEach52(op, s, a, ...) op(51, a) _tlgEach51(op, s, __VA_ARGS__)
#define _tlgEach53(op, s, a, ...) op(52, a) _tlgEach52(op, s, __VA_ARGS__)
#define _tlgEach54(op, s, a, ...) op(53, a) _tlgEach53(op, s, __VA_ARGS__)
#define _tlgEach55(op, s, a, ...) op(54, a) _tlgEach54(op, s, __VA_ARGS__)
#define _tlgEach56(op, s, a, ...) op(55, a) _tlgEach55(op, s, __VA_ARGS__)
#define _tlgEach57(op, s, a, ...) op(56, a) _tlgEach56(op, s, __VA_ARGS__)
#define _tlgEach58(op, s, a, ...) op(57, a) _tlgEach57(op, s, __VA_ARGS__)
#define _tlgEach59(op, s, a, ...) op(58, a) _tlgEach58(op, s, __VA_ARGS__)
#define _tlgEach60(op, s, a, ...) op(59, a) _tlgEach59(op, s, __VA_ARGS__)
#define _tlgEach61(op, s, a, ...) op(60, a) _tlgEach60(op, s, __VA_ARGS__)
#define _tlgEach62(op, s, a, ...) op(61, a) _tlgEach61(op, s, __VA_ARGS__)
#define _tlgEach63(op, s, a, ...) op(62, a) _tlgEach62(op, s, __VA_ARGS__)
#define _tlgEach64(op, s, a, ...) op(63, a) _tlgEach63(op, s, __VA_ARGS__)
#define _tlgEach65(op, s, a, ...) op(64, a) _tlgEach64(op, s, __VA_ARGS__)
#define _tlgEach66(op, s, a, ...) op(65, a) _tlgEach65(op, s, __VA_ARGS__)
#define _tlgEach67(op, s, a, ...) op(66, a) _tlgEach66(op, s, __VA_ARGS__)
#define _tlgEach68(op, s, a, ...) op(67, a) _tlgEach67(op, s, __VA_ARGS__)
#define _tlgEach69(op, s, a, ...) op(68, a) _tlgEach68(op, s, __VA_ARGS__)
#define _tlgEach70(op, s, a, ...) op(69, a) _tlgEach69(op, s, __VA_ARGS__)
#define _tlgEach71(op, s, a, ...) op(70, a) _tlgEach70(op, s, __VA_ARGS__)
#define _tlgEach72(op, s, a, ...) op(71, a) _tlgEach71(op, s, __VA_ARGS__)
#define _tlgEach73(op, s, a, ...) op(72, a) _tlgEach72(op, s, __VA_ARGS__)
#define _tlgEach74(op, s, a, ...) op(73, a) _tlgEach73(op, s, __VA_ARGS__)
#define _tlgEach75(op, s, a, ...) op(74, a) _tlgEach74(op, s, __VA_ARGS__)
#define _tlgEach76(op, s, a, ...) op(75, a) _tlgEach75(op, s, __VA_ARGS__)
#define _tlgEach77(op, s, a, ...) op(76, a) _tlgEach76(op, s, __VA_ARGS__)
#define _tlgEach78(op, s, a, ...) op(77, a) _tlgEach77(op, s, __VA_ARGS__)
#define _tlgEach79(op, s, a, ...) op(78, a) _tlgEach78(op, s, __VA_ARGS__)
#define _tlgEach80(op, s, a, ...) op(79, a) _tlgEach79(op, s, __VA_ARGS__)
#define _tlgEach81(op, s, a, ...) op(80, a) _tlgEach80(op, s, __VA_ARGS__)
#define _tlgEach82(op, s, a, ...) op(81, a) _tlgEach81(op, s, __VA_ARGS__)
#define _tlgEach83(op, s, a, ...) op(82, a) _tlgEach82(op, s, __VA_ARGS__)
#define _tlgEach84(op, s, a, ...) op(83, a) _tlgEach83(op, s, __VA_ARGS__)
#define _tlgEach85(op, s, a, ...) op(84, a) _tlgEach84(op, s, __VA_ARGS__)
#define _tlgEach86(op, s, a, ...) op(85, a) _tlgEach85(op, s, __VA_ARGS__)
#define _tlgEach87(op, s, a, ...) op(86, a) _tlgEach86(op, s, __VA_ARGS__)
#define _tlgEach88(op, s, a, ...) op(87, a) _tlgEach87(op, s, __VA_ARGS__)
#define _tlgEach89(op, s, a, ...) op(88, a) _tlgEach88(op, s, __VA_ARGS__)
#define _tlgEach90(op, s, a, ...) op(89, a) _tlgEach89(op, s, __VA_ARGS__)
#define _tlgEach91(op, s, a, ...) op(90, a) _tlgEach90(op, s, __VA_ARGS__)
#define _tlgEach92(op, s, a, ...) op(91, a) _tlgEach91(op, s, __VA_ARGS__)
#define _tlgEach93(op, s, a, ...) op(92, a) _tlgEach92(op, s, __VA_ARGS__)
#define _tlgEach94(op, s, a, ...) op(93, a) _tlgEach93(op, s, __VA_ARGS__)
#define _tlgEach95(op, s, a, ...) op(94, a) _tlgEach94(op, s, __VA_ARGS__)
#define _tlgEach96(op, s, a, ...) op(95, a) _tlgEach95(op, s, __VA_ARGS__)
#define _tlgEach97(op, s, a, ...) op(96, a) _tlgEach96(op, s, __VA_ARGS__)
#define _tlgEach98(op, s, a, ...) op(97, a) _tlgEach97(op, s, __VA_ARGS__)
#define _tlgEach99(op, s, a, ...) op(98, a) _tlgEach98(op, s, __VA_ARGS__)
#define _tlgEach100(op, s, a, ...) op(99, a) _tlgEach99(op, s, __VA_ARGS__)
#define _tlgEach101(op, s, a, ...) op(100, a) _tlgEach100(op, s, __VA_ARGS__)
#define _tlgEach102(op, s, a, ...) op(101, a) _tlgEach101(op, s, __VA_ARGS__)
#define _tlgEach103(op, s, a, ...) op(102, a) _tlgEach102(op, s, __VA_ARGS__)
#define _tlgEach104(op, s, a, ...) op(103, a) _tlgEach103(op, s, __VA_ARGS__)

#endif
