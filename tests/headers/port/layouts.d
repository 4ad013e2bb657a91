layouts.o: layouts.c /usr/include/stdc-predef.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/crt/etw_force.h \
 layouts.h /tmp/porting/inst/usr/local/bin/../include/etw/win/windows.h \
 /usr/include/ctype.h /usr/include/features.h \
 /usr/include/features-time64.h \
 /usr/include/x86_64-linux-gnu/bits/wordsize.h \
 /usr/include/x86_64-linux-gnu/bits/timesize.h \
 /usr/include/x86_64-linux-gnu/sys/cdefs.h \
 /usr/include/x86_64-linux-gnu/bits/long-double.h \
 /usr/include/x86_64-linux-gnu/gnu/stubs.h \
 /usr/include/x86_64-linux-gnu/gnu/stubs-64.h \
 /usr/include/x86_64-linux-gnu/bits/types.h \
 /usr/include/x86_64-linux-gnu/bits/typesizes.h \
 /usr/include/x86_64-linux-gnu/bits/time64.h \
 /usr/include/x86_64-linux-gnu/bits/endian.h \
 /usr/include/x86_64-linux-gnu/bits/endianness.h \
 /usr/include/x86_64-linux-gnu/bits/types/locale_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/__locale_t.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/crt/stdlib.h \
 /tmp/porting/inst/usr/local/include/etw/win/crt/etw_crtdefs.h \
 /usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h /usr/include/stdlib.h \
 /usr/include/x86_64-linux-gnu/bits/libc-header-start.h \
 /usr/include/x86_64-linux-gnu/bits/waitflags.h \
 /usr/include/x86_64-linux-gnu/bits/waitstatus.h \
 /usr/include/x86_64-linux-gnu/bits/floatn.h \
 /usr/include/x86_64-linux-gnu/bits/floatn-common.h \
 /usr/include/x86_64-linux-gnu/sys/types.h \
 /usr/include/x86_64-linux-gnu/bits/types/clock_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/clockid_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/time_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/timer_t.h \
 /usr/include/x86_64-linux-gnu/bits/stdint-intn.h /usr/include/endian.h \
 /usr/include/x86_64-linux-gnu/bits/byteswap.h \
 /usr/include/x86_64-linux-gnu/bits/uintn-identity.h \
 /usr/include/x86_64-linux-gnu/sys/select.h \
 /usr/include/x86_64-linux-gnu/bits/select.h \
 /usr/include/x86_64-linux-gnu/bits/types/sigset_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/__sigset_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/struct_timeval.h \
 /usr/include/x86_64-linux-gnu/bits/types/struct_timespec.h \
 /usr/include/x86_64-linux-gnu/bits/pthreadtypes.h \
 /usr/include/x86_64-linux-gnu/bits/thread-shared-types.h \
 /usr/include/x86_64-linux-gnu/bits/pthreadtypes-arch.h \
 /usr/include/x86_64-linux-gnu/bits/atomic_wide_counter.h \
 /usr/include/x86_64-linux-gnu/bits/struct_mutex.h \
 /usr/include/x86_64-linux-gnu/bits/struct_rwlock.h /usr/include/alloca.h \
 /usr/include/x86_64-linux-gnu/bits/stdlib-float.h \
 /tmp/porting/inst/usr/local/include/etw/win/crt/wchar.h \
 /tmp/porting/inst/usr/local/include/etw/win/crt/etw_crtdefs.h \
 /usr/include/x86_64-linux-gnu/bits/types/FILE.h \
 /usr/include/x86_64-linux-gnu/bits/types/__FILE.h \
 /usr/include/x86_64-linux-gnu/bits/types/mbstate_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/__mbstate_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/wint_t.h \
 /usr/lib/gcc/x86_64-linux-gnu/12/include/stdarg.h \
 /usr/lib/gcc/x86_64-linux-gnu/12/include/stdint.h /usr/include/stdint.h \
 /usr/include/x86_64-linux-gnu/bits/wchar.h \
 /usr/include/x86_64-linux-gnu/bits/stdint-uintn.h \
 /tmp/porting/inst/usr/local/include/etw/win/conio.h \
 /tmp/porting/inst/usr/local/include/etw/win/etw_abi.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/crt/limits.h \
 /usr/lib/gcc/x86_64-linux-gnu/12/include/limits.h \
 /usr/lib/gcc/x86_64-linux-gnu/12/include/syslimits.h \
 /usr/include/limits.h /usr/include/x86_64-linux-gnu/bits/posix1_lim.h \
 /usr/include/x86_64-linux-gnu/bits/local_lim.h \
 /usr/include/linux/limits.h \
 /usr/include/x86_64-linux-gnu/bits/pthread_stack_min-dynamic.h \
 /usr/include/x86_64-linux-gnu/bits/pthread_stack_min.h \
 /usr/include/x86_64-linux-gnu/bits/posix2_lim.h \
 /tmp/porting/inst/usr/local/include/etw/win/sal.h \
 /tmp/porting/inst/usr/local/include/etw/win/winapifamily.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/crt/stdio.h \
 /usr/include/stdio.h /usr/include/x86_64-linux-gnu/bits/types/__fpos_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/__fpos64_t.h \
 /usr/include/x86_64-linux-gnu/bits/types/struct_FILE.h \
 /usr/include/x86_64-linux-gnu/bits/stdio_lim.h \
 /tmp/porting/inst/usr/local/include/etw/win/crt/wctype.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/crt/wctype.h \
 /usr/include/wctype.h /usr/include/x86_64-linux-gnu/bits/wctype-wchar.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/crt/string.h \
 /usr/include/string.h /usr/include/strings.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winnt.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/guiddef.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/minwindef.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/basetsd.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/etw_abi.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/sdkddkver.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winerror.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/etw_error_codes.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/processthreadsapi.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/securitybaseapi.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/synchapi.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/threadpoolapiset.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/timezoneapi.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winbase.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/excpt.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/windows.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winnls.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/objbase.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/cguid.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/oleauto.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winsock.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winsock2.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/in6addr.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/evntrace.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/evntprov.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winerror.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/winnt.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/evntrace_guids.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/guiddef.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/evntrace_values.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/wmistr.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/evntrace_calls.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/evntrace.h \
 /usr/include/fenv.h /usr/include/x86_64-linux-gnu/bits/fenv.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/pshpack4.h \
 /tmp/porting/inst/usr/local/bin/../include/etw/win/poppack.h
