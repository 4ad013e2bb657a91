/* SPDX-License-Identifier: MIT
 *
 * Source annotations (SAL 2): notes for Microsoft's analyser that mean nothing here.
 *
 * The older lower-case set (__in, __out, __inout): always in C. In C++ these are names of
 * libstdc++'s own parameters, so they exist only when asked for, after the standard headers:
 * -include etw_old_sal.h on the command line does both.
 */
#ifndef ETW_WIN_SAL_H
#define ETW_WIN_SAL_H

#define __analysis_assert(condition)

/* Rarer ones: of locks, of translated errors, of drivers. */
#define _Outptr_opt_result_z_
#define _COM_Outptr_result_maybenull_
#define _COM_Outptr_opt_result_maybenull_
#define _Outref_result_maybenull_
#define _Field_z_
#define _Always_(e)
#define _Pre_
#define _Post_
#define _Post_null_
#define _Deref_pre_maybenull_
#define _Deref_post_opt_valid_
#define _Deref_out_opt_z_
#define _Deref_prepost_z_
#define _Deref_inout_z_
#define _Const_
#define _Null_
#define _Valid_
#define _Scanf_s_format_string_
#define _Literal_
#define _Interlocked_
#define _Benign_race_begin_
#define _Benign_race_end_
#define _Requires_no_locks_held_
#define _Kernel_clear_do_init_
#define _Unchanged_
#define _In_NLS_string_
#define _Translates_last_error_to_HRESULT_
#define _Deref_
#define _Ret_deref_
#define _Outptr_result_bytebuffer_maybenull_(n)
#define _Create_lock_level_(l)
#define _Has_lock_level_(l)
#define _Lock_level_order_(a, b)
#define _Analysis_assume_lock_held_(l)
#define _Analysis_assume_lock_not_held_(l)
#define _IRQL_restores_
#define _IRQL_restores_global_(k, p)
#define _Pre_equal_to_(e)
#define _Translates_Win32_to_HRESULT_(e)
#define _Translates_NTSTATUS_to_HRESULT_(e)
#define _Deref_ret_range_(a, b)
#define _Out_cap_c_(n)
#define _Inout_cap_(n)
#define _Opt_valid_bytes_(n)
#define __drv_freesMem(k)
#define __drv_allocatesMem(k)
#define __drv_preferredFunction(f, why)
#define __drv_aliasesMem
#define _Post_equals_last_error_
#define _Outptr_result_maybenull_z_
#define _Outptr_opt_result_maybenull_z_
#define _Pre_opt_null_

#define _In_
#define _In_opt_
#define _In_z_
#define _In_opt_z_
#define _Inout_
#define _Inout_opt_
#define _Inout_z_
#define _Inout_opt_z_
#define _Out_
#define _Out_opt_
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Outptr_opt_result_maybenull_
#define _Outptr_result_z_
#define _Outptr_result_nullonfailure_
#define _COM_Outptr_
#define _COM_Outptr_opt_
#define _Outref_
#define _Ret_z_
#define _Ret_opt_z_
#define _Ret_maybenull_
#define _Ret_maybenull_z_
#define _Ret_notnull_
#define _Ret_valid_
#define _Ret_null_
#define _Printf_format_string_
#define _Scanf_format_string_
#define _Use_decl_annotations_
#define _Null_terminated_
#define _NullNull_terminated_
#define _Notnull_
#define _Maybenull_
#define _Post_invalid_
#define _Post_notnull_
#define _Post_maybenull_
#define _Post_valid_
#define _Post_z_
#define _Post_ptr_invalid_
#define _Pre_notnull_
#define _Pre_maybenull_
#define _Pre_valid_
#define _Pre_z_
#define _Pre_opt_valid_
#define _Pre_null_
#define _Prepost_z_
#define _Must_inspect_result_
#define _Check_return_
#define _Check_return_opt_
#define _Check_return_wat_
#define _Reserved_
#define _Result_nullonfailure_
#define _Result_zeroonfailure_
#define _Points_to_data_
#define _Notliteral_
#define _Deref_post_z_
#define _Deref_pre_z_
#define _Deref_out_
#define _Deref_out_opt_
#define _Deref_out_z_
#define _Deref_opt_out_
#define _Interlocked_operand_
#define _IRQL_requires_same_
#define _Frees_ptr_
#define _Frees_ptr_opt_
#define _Raises_SEH_exception_
#define _Maybe_raises_SEH_exception_
#define _Enum_is_bitflag_
#define _Strict_type_match_
#define _Notvalid_
#define _Acquires_nonreentrant_
#define _Analysis_noreturn_
#define _No_competing_thread_
#define _Unchanged_contents_

#define _In_reads_(n)
#define _In_reads_opt_(n)
#define _In_reads_z_(n)
#define _In_reads_opt_z_(n)
#define _In_reads_or_z_(n)
#define _In_reads_or_z_opt_(n)
#define _In_reads_bytes_(n)
#define _In_reads_bytes_opt_(n)
#define _In_reads_to_ptr_(p)
#define _In_reads_to_ptr_opt_(p)
#define _In_range_(lo, hi)
#define _In_count_(n)
#define _In_opt_count_(n)
#define _In_count_x_(n)
#define _In_opt_count_x_(n)
#define _In_count_c_(n)
#define _In_opt_count_c_(n)
#define _In_bytecount_(n)
#define _In_opt_bytecount_(n)
#define _In_bytecount_c_(n)
#define _In_bytecount_x_(n)
#define _In_opt_bytecount_x_(n)
#define _In_z_count_(n)
#define _In_opt_z_count_(n)
#define _In_z_bytecount_(n)
#define _Inout_count_(n)
#define _Inout_opt_count_(n)
#define _Inout_bytecount_(n)
#define _Inout_opt_bytecount_(n)
#define _Inout_updates_(n)
#define _Inout_updates_opt_(n)
#define _Inout_updates_z_(n)
#define _Inout_updates_opt_z_(n)
#define _Inout_updates_bytes_(n)
#define _Inout_updates_bytes_opt_(n)
#define _Inout_updates_to_(n, m)
#define _Inout_updates_to_opt_(n, m)
#define _Inout_updates_all_(n)
#define _Inout_updates_bytes_to_(n, m)
#define _Inout_updates_bytes_all_(n)
#define _Out_writes_(n)
#define _Out_writes_opt_(n)
#define _Out_writes_z_(n)
#define _Out_writes_opt_z_(n)
#define _Out_writes_bytes_(n)
#define _Out_writes_bytes_opt_(n)
#define _Out_writes_to_(n, m)
#define _Out_writes_to_opt_(n, m)
#define _Out_writes_all_(n)
#define _Out_writes_all_opt_(n)
#define _Out_writes_bytes_to_(n, m)
#define _Out_writes_bytes_to_opt_(n, m)
#define _Out_writes_bytes_all_(n)
#define _Out_writes_bytes_all_opt_(n)
#define _Out_writes_to_ptr_(p)
#define _Out_z_cap_(n)
#define _Out_cap_(n)
#define _Out_opt_cap_(n)
#define _Out_bytecap_(n)
#define _Out_opt_bytecap_(n)
#define _Out_range_(lo, hi)
#define _Ret_range_(lo, hi)
#define _Field_range_(lo, hi)
#define _Deref_in_range_(lo, hi)
#define _Deref_out_range_(lo, hi)
#define _Outptr_result_buffer_(n)
#define _Outptr_result_buffer_maybenull_(n)
#define _Outptr_opt_result_buffer_(n)
#define _Outptr_result_bytebuffer_(n)
#define _Outptr_opt_result_bytebuffer_(n)
#define _Outptr_result_buffer_all_(n)
#define _Outptr_result_buffer_to_(n, m)
#define _Ret_count_(n)
#define _Ret_opt_count_(n)
#define _Ret_bytecount_(n)
#define _Ret_opt_bytecount_(n)
#define _Ret_bytecount_x_(n)
#define _Ret_writes_(n)
#define _Ret_writes_z_(n)
#define _Ret_writes_bytes_(n)
#define _Ret_writes_maybenull_(n)
#define _Ret_writes_bytes_maybenull_(n)
#define _Ret_writes_bytes_to_(n, m)
#define _Ret_writes_bytes_to_maybenull_(n, m)
#define _Ret_cap_(n)
#define _Ret_bytecap_(n)
#define _Ret_opt_bytecap_(n)
#define _Readable_bytes_(n)
#define _Readable_elements_(n)
#define _Writable_bytes_(n)
#define _Writable_elements_(n)
#define _Pre_readable_size_(n)
#define _Pre_readable_byte_size_(n)
#define _Pre_writable_size_(n)
#define _Pre_writable_byte_size_(n)
#define _Post_readable_size_(n)
#define _Post_readable_byte_size_(n)
#define _Post_writable_size_(n)
#define _Post_writable_byte_size_(n)
#define _Pre_satisfies_(e)
#define _Post_satisfies_(e)
#define _Post_equal_to_(e)
#define _Satisfies_(e)
#define _Field_size_(n)
#define _Field_size_opt_(n)
#define _Field_size_bytes_(n)
#define _Field_size_bytes_opt_(n)
#define _Field_size_full_(n)
#define _Field_size_bytes_full_(n)
#define _Field_size_part_(n, m)
#define _Field_size_bytes_part_(n, m)
#define _Field_z_count_(n)
#define _Struct_size_bytes_(n)
#define _Success_(e)
#define _Return_type_success_(e)
#define _Function_class_(c)
#define _Dispatch_type_(t)
#define _Analysis_assume_(e)
#define _Analysis_mode_(m)
#define _Analysis_suppress_lock_checking_(l)
#define _IRQL_requires_(l)
#define _IRQL_requires_max_(l)
#define _IRQL_requires_min_(l)
#define _IRQL_raises_(l)
#define _IRQL_saves_(l)
#define _When_(e, a)
#define _At_(t, a)
#define _At_buffer_(t, i, n, a)
#define _On_failure_(a)
#define _Group_(a)
#define _Acquires_lock_(l)
#define _Releases_lock_(l)
#define _Requires_lock_held_(l)
#define _Requires_lock_not_held_(l)
#define _Requires_exclusive_lock_held_(l)
#define _Requires_shared_lock_held_(l)
#define _Acquires_exclusive_lock_(l)
#define _Acquires_shared_lock_(l)
#define _Releases_exclusive_lock_(l)
#define _Releases_shared_lock_(l)
#define _Guarded_by_(l)
#define _Write_guarded_by_(l)
#define _Has_lock_kind_(k)
#define _Old_(e)
#define _Param_(n)
#define _Null_terminated_count_(n)
#define _String_length_(s)
#define _Inexpressible_(e)
#define _Const_return_(e)
#define _Printf_format_string_params_(n)
#define _Scanf_format_string_params_(n)
#define _Deref_post_opt_z_cap_(n)
#define _Deref_prepost_opt_z_(n)
#define _Out_z_bytecap_(n)
#define _Out_z_cap_post_count_(n, m)
#define _Out_cap_post_count_(n, m)
#define _Inout_z_cap_(n)
#define _Inout_z_bytecap_(n)
#define _Inout_opt_z_cap_(n)
#define _Prepost_bytecount_(n)
#define _Prepost_count_(n)
#define _Pre_bytecount_(n)
#define _Pre_count_(n)
#define _Post_bytecount_(n)
#define _Post_count_(n)
#define _Pre_cap_(n)
#define _Pre_bytecap_(n)
#define _Post_cap_(n)
#define _Post_bytecap_(n)

#endif

/* Outside of the guard: the wish may come with a later inclusion. */
#if (!defined(__cplusplus) || defined(ETW_WANT_OLD_SAL)) && !defined(ETW_WIN_OLD_SAL_DEFINED)
#define ETW_WIN_OLD_SAL_DEFINED
#if defined(__aarch64__)
/* They have members of the name __reserved, and are there before it means nothing. */
#include <asm/sigcontext.h>
#include <sys/ucontext.h>
#endif
#define __in
#define __in_opt
#define __in_z
#define __in_z_opt
#define __inout
#define __inout_opt
#define __inout_z
#define __out
#define __out_opt
#define __deref_out
#define __deref_out_opt
#define __deref_opt_out
#define __deref_inout
#define __deref_out_z
#define __reserved
#define __checkReturn
#define __nullterminated
#define __nullnullterminated
#define __notnull
#define __maybenull
#define __success(e)
#define __range(lo, hi)
#define __in_range(lo, hi)
#define __in_ecount(n)
#define __in_ecount_opt(n)
#define __in_ecount_z(n)
#define __in_bcount(n)
#define __in_bcount_opt(n)
#define __out_ecount(n)
#define __out_ecount_opt(n)
#define __out_ecount_z(n)
#define __out_ecount_part(n, m)
#define __out_ecount_part_opt(n, m)
#define __out_ecount_full(n)
#define __out_bcount(n)
#define __out_bcount_opt(n)
#define __out_bcount_part(n, m)
#define __out_bcount_part_opt(n, m)
#define __out_bcount_full(n)
#define __inout_ecount(n)
#define __inout_ecount_opt(n)
#define __inout_bcount(n)
#define __inout_bcount_opt(n)
#define __inout_bcount_part(n, m)
#define __deref_out_ecount(n)
#define __deref_out_bcount(n)
#define __deref_out_ecount_opt(n)
#define __field_ecount(n)
#define __field_bcount(n)
#define __field_ecount_opt(n)
#define __field_bcount_opt(n)
#define __field_ecount_part(n, m)
#define __field_bcount_part(n, m)
#define __struct_bcount(n)
#define __drv_maxIRQL(l)
#define __drv_interlocked
#define __callback
#define __format_string
#endif
