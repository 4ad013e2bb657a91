/* SPDX-License-Identifier: MIT
 *
 * Win32, HRESULT and NTSTATUS values. ETW functions return Win32 codes; only OpenTrace and the inquiries
 * of classic providers report through GetLastError.
 */
#ifndef ETW_WIN_WINERROR_H
#define ETW_WIN_WINERROR_H

#include "minwindef.h"

#define NO_ERROR 0L
#define ERROR_SUCCESS                          0L
#define ERROR_INVALID_FUNCTION                 1L
#define ERROR_FILE_NOT_FOUND                   2L
#define ERROR_PATH_NOT_FOUND                   3L
#define ERROR_TOO_MANY_OPEN_FILES              4L
#define ERROR_ACCESS_DENIED                    5L
#define ERROR_INVALID_HANDLE                   6L
#define ERROR_NOT_ENOUGH_MEMORY                8L
#define ERROR_BAD_FORMAT                       11L
#define ERROR_INVALID_ACCESS                   12L
#define ERROR_INVALID_DATA                     13L
#define ERROR_OUTOFMEMORY                      14L
#define ERROR_INVALID_DRIVE                    15L
#define ERROR_NOT_SAME_DEVICE                  17L
#define ERROR_NO_MORE_FILES                    18L
#define ERROR_WRITE_PROTECT                    19L
#define ERROR_NOT_READY                        21L
#define ERROR_BAD_LENGTH                       24L
#define ERROR_WRITE_FAULT                      29L
#define ERROR_READ_FAULT                       30L
#define ERROR_GEN_FAILURE                      31L
#define ERROR_SHARING_VIOLATION                32L
#define ERROR_LOCK_VIOLATION                   33L
#define ERROR_HANDLE_EOF                       38L
#define ERROR_HANDLE_DISK_FULL                 39L
#define ERROR_NOT_SUPPORTED                    50L
#define ERROR_BAD_NETPATH                      53L
#define ERROR_DEV_NOT_EXIST                    55L
#define ERROR_FILE_EXISTS                      80L
#define ERROR_CANNOT_MAKE                      82L
#define ERROR_INVALID_PARAMETER                87L
#define ERROR_TOO_MANY_SEMAPHORES              100L
#define ERROR_BROKEN_PIPE                      109L
#define ERROR_OPEN_FAILED                      110L
#define ERROR_BUFFER_OVERFLOW                  111L
#define ERROR_DISK_FULL                        112L
#define ERROR_CALL_NOT_IMPLEMENTED             120L
#define ERROR_SEM_TIMEOUT                      121L
#define ERROR_INSUFFICIENT_BUFFER              122L
#define ERROR_INVALID_NAME                     123L
#define ERROR_MOD_NOT_FOUND                    126L
#define ERROR_PROC_NOT_FOUND                   127L
#define ERROR_NEGATIVE_SEEK                    131L
#define ERROR_DIR_NOT_EMPTY                    145L
#define ERROR_BAD_ARGUMENTS                    160L
#define ERROR_BAD_PATHNAME                     161L
#define ERROR_BUSY                             170L
#define ERROR_ALREADY_EXISTS                   183L
#define ERROR_INVALID_FLAG_NUMBER              186L
#define ERROR_BAD_EXE_FORMAT                   193L
#define ERROR_ENVVAR_NOT_FOUND                 203L
#define ERROR_FILENAME_EXCED_RANGE             206L
#define ERROR_BAD_PIPE                         230L
#define ERROR_PIPE_BUSY                        231L
#define ERROR_NO_DATA                          232L
#define ERROR_PIPE_NOT_CONNECTED               233L
#define ERROR_MORE_DATA                        234L
#define ERROR_NO_MORE_ITEMS                    259L
#define ERROR_DIRECTORY                        267L
#define ERROR_NOT_OWNER                        288L
#define ERROR_MR_MID_NOT_FOUND                 317L
#define ERROR_BAD_DEVICE_PATH                  330L
#define ERROR_ARITHMETIC_OVERFLOW              534L
#define ERROR_UNHANDLED_EXCEPTION              574L
#define ERROR_ASSERTION_FAILURE                668L
#define ERROR_OPERATION_ABORTED                995L
#define ERROR_IO_INCOMPLETE                    996L
#define ERROR_IO_PENDING                       997L
#define ERROR_NOACCESS                         998L
#define ERROR_INVALID_FLAGS                    1004L
#define ERROR_UNRECOGNIZED_VOLUME              1005L
#define ERROR_FILE_INVALID                     1006L
#define ERROR_NO_TOKEN                         1008L
#define ERROR_SERVICE_ALREADY_RUNNING          1056L
#define ERROR_SERVICE_DOES_NOT_EXIST           1060L
#define ERROR_SERVICE_EXISTS                   1073L
#define ERROR_NO_UNICODE_TRANSLATION           1113L
#define ERROR_DLL_INIT_FAILED                  1114L
#define ERROR_SHUTDOWN_IN_PROGRESS             1115L
#define ERROR_IO_DEVICE                        1117L
#define ERROR_DLL_NOT_FOUND                    1157L
#define ERROR_NOT_FOUND                        1168L
#define ERROR_NO_MATCH                         1169L
#define ERROR_CANCELLED                        1223L
#define ERROR_NOT_ALL_ASSIGNED                 1300L
#define ERROR_NO_SUCH_LOGON_SESSION            1312L
#define ERROR_PRIVILEGE_NOT_HELD               1314L
#define ERROR_NONE_MAPPED                      1332L
#define ERROR_INVALID_ACL                      1336L
#define ERROR_INVALID_SID                      1337L
#define ERROR_INVALID_SECURITY_DESCR           1338L
#define ERROR_INTERNAL_ERROR                   1359L
#define ERROR_FILE_CORRUPT                     1392L
#define ERROR_NO_SYSTEM_RESOURCES              1450L
#define ERROR_TIMEOUT                          1460L
#define ERROR_XML_PARSE_ERROR                  1465L
#define ERROR_INSTALL_FAILURE                  1603L
#define ERROR_DATATYPE_MISMATCH                1629L
#define ERROR_UNSUPPORTED_TYPE                 1630L
#define ERROR_INVALID_USER_BUFFER              1784L
#define ERROR_RESOURCE_DATA_NOT_FOUND          1812L
#define ERROR_RESOURCE_TYPE_NOT_FOUND          1813L
#define ERROR_RESOURCE_NAME_NOT_FOUND          1814L
#define ERROR_RESOURCE_LANG_NOT_FOUND          1815L
#define ERROR_INVALID_TIME                     1901L
#define ERROR_ACTIVE_CONNECTIONS               2402L
#define ERROR_WMI_GUID_NOT_FOUND               4200L
#define ERROR_WMI_INSTANCE_NOT_FOUND           4201L
#define ERROR_WMI_ITEMID_NOT_FOUND             4202L
#define ERROR_WMI_TRY_AGAIN                    4203L
#define ERROR_WMI_DP_NOT_FOUND                 4204L
#define ERROR_WMI_UNRESOLVED_INSTANCE_REF      4205L
#define ERROR_WMI_ALREADY_ENABLED              4206L
#define ERROR_WMI_GUID_DISCONNECTED            4207L
#define ERROR_WMI_SERVER_UNAVAILABLE           4208L
#define ERROR_WMI_DP_FAILED                    4209L
#define ERROR_WMI_INVALID_MOF                  4210L
#define ERROR_WMI_INVALID_REGINFO              4211L
#define ERROR_WMI_ALREADY_DISABLED             4212L
#define ERROR_WMI_READ_ONLY                    4213L
#define ERROR_WMI_SET_FAILURE                  4214L
#define ERROR_EMPTY                            4306L
#define ERROR_RESOURCE_NOT_FOUND               5007L
#define ERROR_INVALID_STATE                    5023L
#define ERROR_CTX_CLOSE_PENDING                7007L
#define ERROR_EVT_INVALID_CHANNEL_PATH         15000L
#define ERROR_EVT_INVALID_QUERY                15001L
#define ERROR_EVT_PUBLISHER_METADATA_NOT_FOUND 15002L
#define ERROR_EVT_EVENT_TEMPLATE_NOT_FOUND     15003L
#define ERROR_EVT_INVALID_PUBLISHER_NAME       15004L
#define ERROR_EVT_INVALID_EVENT_DATA           15005L
#define ERROR_EVT_CHANNEL_NOT_FOUND            15007L
#define ERROR_EVT_MALFORMED_XML_TEXT           15008L
#define ERROR_EVT_MESSAGE_NOT_FOUND            15027L
#define ERROR_EVT_MESSAGE_ID_NOT_FOUND         15028L
#define ERROR_EVT_UNRESOLVED_VALUE_INSERT      15029L
#define ERROR_EVT_UNRESOLVED_PARAMETER_INSERT  15030L
#define ERROR_EVT_MAX_INSERTS_REACHED          15031L
#define ERROR_EVT_EVENT_DEFINITION_NOT_FOUND   15032L
#define ERROR_EVT_MESSAGE_LOCALE_NOT_FOUND     15033L
#define ERROR_MUI_FILE_NOT_FOUND               15100L
#define ERROR_MUI_FILE_NOT_LOADED              15105L

#define RPC_S_OK	    0L
#define RPC_S_UUID_LOCAL_ONLY 1824L
#define RPC_S_UUID_NO_ADDRESS 1739L

#define ETW_HRESULT(v)		 ((HRESULT)(v))
#define S_OK			 ETW_HRESULT(0)
#define S_FALSE			 ETW_HRESULT(1)
#define E_NOTIMPL		 ETW_HRESULT(0x80004001u)
#define E_NOINTERFACE		 ETW_HRESULT(0x80004002u)
#define E_POINTER		 ETW_HRESULT(0x80004003u)
#define E_ABORT			 ETW_HRESULT(0x80004004u)
#define E_FAIL			 ETW_HRESULT(0x80004005u)
#define E_BOUNDS		 ETW_HRESULT(0x8000000Bu)
#define E_PENDING		 ETW_HRESULT(0x8000000Au)
#define E_UNEXPECTED		 ETW_HRESULT(0x8000FFFFu)
#define E_ACCESSDENIED		 ETW_HRESULT(0x80070005u)
#define E_HANDLE		 ETW_HRESULT(0x80070006u)
#define E_OUTOFMEMORY		 ETW_HRESULT(0x8007000Eu)
#define E_INVALIDARG		 ETW_HRESULT(0x80070057u)
#define E_NOT_SUFFICIENT_BUFFER	 ETW_HRESULT(0x8007007Au)
#define CLASS_E_NOAGGREGATION	 ETW_HRESULT(0x80040110u)
#define REGDB_E_CLASSNOTREG	 ETW_HRESULT(0x80040154u)
#define CO_E_NOTINITIALIZED	 ETW_HRESULT(0x800401F0u)
#define CO_E_CLASSSTRING	 ETW_HRESULT(0x800401F3u)
#define RPC_E_CHANGED_MODE	 ETW_HRESULT(0x80010106u)

#define SEVERITY_SUCCESS  0
#define SEVERITY_ERROR	  1
#define FACILITY_NULL	  0
#define FACILITY_ITF	  4
#define FACILITY_WIN32	  7
#define FACILITY_NT_BIT	  0x10000000

#define SUCCEEDED(hr)	      (((HRESULT)(hr)) >= 0)
#define FAILED(hr)	      (((HRESULT)(hr)) < 0)
#define IS_ERROR(status)      (((ULONG)(status)) >> 31 == SEVERITY_ERROR)
#define HRESULT_CODE(hr)      ((hr) & 0xFFFF)
#define SCODE_CODE(sc)	      ((sc) & 0xFFFF)
#define HRESULT_FACILITY(hr)  (((hr) >> 16) & 0x1FFF)
#define HRESULT_SEVERITY(hr)  (((hr) >> 31) & 0x1)
#define MAKE_HRESULT(sev, fac, code) \
	((HRESULT)(((ULONG)(sev) << 31) | ((ULONG)(fac) << 16) | ((ULONG)(code))))
#define HRESULT_FROM_NT(status) ((HRESULT)((status) | FACILITY_NT_BIT))
#define __HRESULT_FROM_WIN32(code) HRESULT_FROM_WIN32(code)

/* A value that already is an HRESULT failure, and success, stay as they are. */
ETW_INLINE HRESULT HRESULT_FROM_WIN32(ULONG code)
{
	return (HRESULT)code <= 0 ? (HRESULT)code
				  : (HRESULT)((code & 0xFFFF) | (FACILITY_WIN32 << 16) | 0x80000000u);
}

#endif
