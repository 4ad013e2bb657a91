/* SPDX-License-Identifier: MIT
 *
 * The macros that names.c is about: annotations, constants, names without A or W, TraceLogging fields.
 */
#if !defined(ANYSIZE_ARRAY) || !defined(APIENTRY) || !defined(ARRAYSIZE)
#error "one of the names in the line above is missing"
#endif
#if !defined(CALG_SHA1) || !defined(CALLBACK) || !defined(CLSCTX_INPROC_SERVER)
#error "one of the names in the line above is missing"
#endif
#if !defined(COINIT_MULTITHREADED) || !defined(CONST) || !defined(CONTAINING_RECORD)
#error "one of the names in the line above is missing"
#endif
#if !defined(CP_ACP) || !defined(CP_UTF8) || !defined(CREATE_ALWAYS)
#error "one of the names in the line above is missing"
#endif
#if !defined(CTRL_BREAK_EVENT) || !defined(CTRL_C_EVENT) || !defined(CopyMemory)
#error "one of the names in the line above is missing"
#endif
#if !defined(DECLSPEC_CACHEALIGN) || !defined(DECLSPEC_NOINLINE)
#error "one of the names in the line above is missing"
#endif
#if !defined(DEFINE_ENUM_FLAG_OPERATORS) || !defined(DEFINE_GUID)
#error "one of the names in the line above is missing"
#endif
#if !defined(DbgRaiseAssertionFailure)
#error "one of the names in the line above is missing"
#endif
#if !defined(ENABLE_TRACE_PARAMETERS_VERSION_2) || !defined(ERROR_ACCESS_DENIED)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_ALREADY_EXISTS) || !defined(ERROR_ARITHMETIC_OVERFLOW)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_ASSERTION_FAILURE) || !defined(ERROR_BAD_DEVICE_PATH)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_BAD_LENGTH) || !defined(ERROR_BAD_NETPATH)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_BAD_PATHNAME) || !defined(ERROR_BUFFER_OVERFLOW)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_CANCELLED) || !defined(ERROR_CTX_CLOSE_PENDING)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_DLL_NOT_FOUND) || !defined(ERROR_EVT_INVALID_EVENT_DATA)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_FILE_CORRUPT) || !defined(ERROR_FILE_NOT_FOUND)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_INSUFFICIENT_BUFFER) || !defined(ERROR_INVALID_DATA)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_INVALID_FUNCTION) || !defined(ERROR_INVALID_HANDLE)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_INVALID_NAME) || !defined(ERROR_INVALID_PARAMETER)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_INVALID_STATE) || !defined(ERROR_MORE_DATA)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_MR_MID_NOT_FOUND) || !defined(ERROR_NONE_MAPPED)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_NOT_ALL_ASSIGNED) || !defined(ERROR_NOT_ENOUGH_MEMORY)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_NOT_FOUND) || !defined(ERROR_NOT_SUPPORTED)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_NO_SYSTEM_RESOURCES) || !defined(ERROR_OUTOFMEMORY)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_PATH_NOT_FOUND) || !defined(ERROR_SERVICE_ALREADY_RUNNING)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_SERVICE_EXISTS) || !defined(ERROR_SHARING_VIOLATION)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_SUCCESS) || !defined(ERROR_TIMEOUT)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_UNHANDLED_EXCEPTION) || !defined(ERROR_UNSUPPORTED_TYPE)
#error "one of the names in the line above is missing"
#endif
#if !defined(ERROR_WMI_INSTANCE_NOT_FOUND) || !defined(EVENT_ACTIVITY_CTRL_CREATE_ID)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_ACTIVITY_CTRL_GET_ID) || !defined(EVENT_CONTROL_CODE_CAPTURE_STATE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_CONTROL_CODE_DISABLE_PROVIDER)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_CONTROL_CODE_ENABLE_PROVIDER)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_ENABLE_PROPERTY_SID) || !defined(EVENT_ENABLE_PROPERTY_STACK_TRACE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_ENABLE_PROPERTY_TS_ID) || !defined(EVENT_FILTER_TYPE_EVENT_ID)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_FILTER_TYPE_EXECUTABLE_NAME) || !defined(EVENT_FILTER_TYPE_PID)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_FILTER_TYPE_STACKWALK)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_CONTAINER_ID)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_INSTANCE_INFO)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_SID) || !defined(EVENT_HEADER_EXT_TYPE_STACK_TRACE32)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_STACK_TRACE64)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_EXT_TYPE_TS_ID) || !defined(EVENT_HEADER_FLAG_32_BIT_HEADER)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_FLAG_64_BIT_HEADER)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_FLAG_CLASSIC_HEADER)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_FLAG_EXTENDED_INFO) || !defined(EVENT_HEADER_FLAG_NO_CPUTIME)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_FLAG_PRIVATE_SESSION)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_FLAG_PROCESSOR_INDEX)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_FLAG_STRING_ONLY) || !defined(EVENT_HEADER_FLAG_TRACE_MESSAGE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_PROPERTY_FORWARDED_XML)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_PROPERTY_LEGACY_EVENTLOG)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_HEADER_PROPERTY_XML) || !defined(EVENT_TRACE_CONTROL_FLUSH)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_CONTROL_INCREMENT_FILE) || !defined(EVENT_TRACE_CONTROL_QUERY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_CONTROL_STOP) || !defined(EVENT_TRACE_CONTROL_UPDATE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FILE_MODE_APPEND) || !defined(EVENT_TRACE_FILE_MODE_CIRCULAR)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FILE_MODE_NEWFILE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FILE_MODE_SEQUENTIAL) || !defined(EVENT_TRACE_FLAG_ALPC)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_CSWITCH) || !defined(EVENT_TRACE_FLAG_DBGPRINT)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_DEBUG_EVENTS) || !defined(EVENT_TRACE_FLAG_DISK_FILE_IO)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_DISK_IO) || !defined(EVENT_TRACE_FLAG_DISK_IO_INIT)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_DISPATCHER) || !defined(EVENT_TRACE_FLAG_DPC)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_DRIVER) || !defined(EVENT_TRACE_FLAG_FILE_IO)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_FILE_IO_INIT) || !defined(EVENT_TRACE_FLAG_IMAGE_LOAD)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_INTERRUPT) || !defined(EVENT_TRACE_FLAG_JOB)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_NETWORK_TCPIP) || !defined(EVENT_TRACE_FLAG_NO_SYSCONFIG)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_PROCESS) || !defined(EVENT_TRACE_FLAG_PROCESS_COUNTERS)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_PROFILE) || !defined(EVENT_TRACE_FLAG_REGISTRY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_SPLIT_IO) || !defined(EVENT_TRACE_FLAG_SYSTEMCALL)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_THREAD) || !defined(EVENT_TRACE_FLAG_VAMAP)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_FLAG_VIRTUAL_ALLOC)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_INDEPENDENT_SESSION_MODE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_PRIVATE_LOGGER_MODE) || !defined(EVENT_TRACE_REAL_TIME_MODE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_SYSTEM_LOGGER_MODE) || !defined(EVENT_TRACE_TYPE_ACCEPT)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_ACKDUP) || !defined(EVENT_TRACE_TYPE_ACKFULL)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_ACKPART) || !defined(EVENT_TRACE_TYPE_CONNECT)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_CONNFAIL) || !defined(EVENT_TRACE_TYPE_COPY_ARP)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_DC_END) || !defined(EVENT_TRACE_TYPE_DC_START)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_DISCONNECT) || !defined(EVENT_TRACE_TYPE_END)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_INFO) || !defined(EVENT_TRACE_TYPE_IO_READ)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_IO_WRITE) || !defined(EVENT_TRACE_TYPE_RECEIVE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_RECONNECT) || !defined(EVENT_TRACE_TYPE_REGCLOSE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGCOMMIT) || !defined(EVENT_TRACE_TYPE_REGCREATE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGDELETE) || !defined(EVENT_TRACE_TYPE_REGDELETEVALUE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGENUMERATEKEY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGENUMERATEVALUEKEY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGFLUSH) || !defined(EVENT_TRACE_TYPE_REGKCBCREATE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGKCBDELETE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGKCBRUNDOWNBEGIN)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGKCBRUNDOWNEND)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGMOUNTHIVE) || !defined(EVENT_TRACE_TYPE_REGOPEN)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGPREPARE) || !defined(EVENT_TRACE_TYPE_REGQUERY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGQUERYMULTIPLEVALUE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGQUERYSECURITY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGQUERYVALUE) || !defined(EVENT_TRACE_TYPE_REGROLLBACK)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGSETINFORMATION)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGSETSECURITY) || !defined(EVENT_TRACE_TYPE_REGSETVALUE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_REGVIRTUALIZE) || !defined(EVENT_TRACE_TYPE_RETRANSMIT)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_SEND) || !defined(EVENT_TRACE_TYPE_START)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_TYPE_STOP) || !defined(EVENT_TRACE_USE_KBYTES_FOR_SIZE)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVENT_TRACE_USE_LOCAL_SEQUENCE) || !defined(EVENT_TRACE_USE_PAGED_MEMORY)
#error "one of the names in the line above is missing"
#endif
#if !defined(EVNTAPI) || !defined(EXTERN_C) || !defined(E_ACCESSDENIED)
#error "one of the names in the line above is missing"
#endif
#if !defined(E_FAIL) || !defined(E_INVALIDARG) || !defined(E_NOINTERFACE)
#error "one of the names in the line above is missing"
#endif
#if !defined(E_NOTIMPL) || !defined(E_OUTOFMEMORY) || !defined(E_UNEXPECTED)
#error "one of the names in the line above is missing"
#endif
#if !defined(FACILITY_WIN32) || !defined(FAILED) || !defined(FALSE) || !defined(FAR)
#error "one of the names in the line above is missing"
#endif
#if !defined(FIELD_OFFSET) || !defined(FILE_ATTRIBUTE_NORMAL)
#error "one of the names in the line above is missing"
#endif
#if !defined(FILE_TYPE_DISK) || !defined(FORCEINLINE) || !defined(FOREGROUND_GREEN)
#error "one of the names in the line above is missing"
#endif
#if !defined(FOREGROUND_INTENSITY) || !defined(FOREGROUND_RED)
#error "one of the names in the line above is missing"
#endif
#if !defined(FORMAT_MESSAGE_ALLOCATE_BUFFER) || !defined(FORMAT_MESSAGE_ARGUMENT_ARRAY)
#error "one of the names in the line above is missing"
#endif
#if !defined(FORMAT_MESSAGE_FROM_HMODULE) || !defined(FORMAT_MESSAGE_FROM_STRING)
#error "one of the names in the line above is missing"
#endif
#if !defined(FORMAT_MESSAGE_FROM_SYSTEM) || !defined(FORMAT_MESSAGE_IGNORE_INSERTS)
#error "one of the names in the line above is missing"
#endif
#if !defined(GENERIC_READ) || !defined(GENERIC_WRITE) || !defined(HEAP_ZERO_MEMORY)
#error "one of the names in the line above is missing"
#endif
#if !defined(HIBYTE) || !defined(HRESULT_CODE) || !defined(HandleToUlong)
#error "one of the names in the line above is missing"
#endif
#if !defined(IN) || !defined(INET6_ADDRSTRLEN) || !defined(INFINITE)
#error "one of the names in the line above is missing"
#endif
#if !defined(INVALID_FILE_ATTRIBUTES) || !defined(INVALID_HANDLE_VALUE)
#error "one of the names in the line above is missing"
#endif
#if !defined(INVALID_PROCESSTRACE_HANDLE) || !defined(InterlockedExchangeNoFence)
#error "one of the names in the line above is missing"
#endif
#if !defined(InterlockedIncrementNoFence) || !defined(LANG_NEUTRAL)
#error "one of the names in the line above is missing"
#endif
#if !defined(LCMAP_BYTEREV) || !defined(LCMAP_UPPERCASE)
#error "one of the names in the line above is missing"
#endif
#if !defined(LOAD_LIBRARY_SEARCH_SYSTEM32) || !defined(LOBYTE)
#error "one of the names in the line above is missing"
#endif
#if !defined(LOCALE_USER_DEFAULT) || !defined(LOWORD) || !defined(MAKELANGID)
#error "one of the names in the line above is missing"
#endif
#if !defined(MAXDWORD) || !defined(MAXUINT) || !defined(MAX_EVENT_FILTER_EVENT_ID_COUNT)
#error "one of the names in the line above is missing"
#endif
#if !defined(MAX_PATH) || !defined(MEMORY_ALLOCATION_ALIGNMENT) || !defined(NO_ERROR)
#error "one of the names in the line above is missing"
#endif
#if !defined(NTAPI) || !defined(NTDDI_VERSION) || !defined(NT_SUCCESS)
#error "one of the names in the line above is missing"
#endif
#if !defined(OPEN_ALWAYS) || !defined(OPEN_EXISTING)
#error "one of the names in the line above is missing"
#endif
#if !defined(PROCESS_TRACE_MODE_EVENT_RECORD)
#error "one of the names in the line above is missing"
#endif
#if !defined(PROCESS_TRACE_MODE_RAW_TIMESTAMP) || !defined(PROCESS_TRACE_MODE_REAL_TIME)
#error "one of the names in the line above is missing"
#endif
#if !defined(PROV_RSA_FULL) || !defined(RPC_S_OK) || !defined(RTL_NUMBER_OF)
#error "one of the names in the line above is missing"
#endif
#if !defined(RTL_SIZEOF_THROUGH_FIELD) || !defined(RtlCopyMemory)
#error "one of the names in the line above is missing"
#endif
#if !defined(RtlZeroMemory) || !defined(SECURITY_MAX_SID_SIZE)
#error "one of the names in the line above is missing"
#endif
#if !defined(SE_PRIVILEGE_ENABLED) || !defined(SID_REVISION)
#error "one of the names in the line above is missing"
#endif
#if !defined(STATUS_BUFFER_TOO_SMALL) || !defined(STATUS_INVALID_PARAMETER)
#error "one of the names in the line above is missing"
#endif
#if !defined(STATUS_SUCCESS) || !defined(STDMETHODCALLTYPE) || !defined(STDMETHODIMP_)
#error "one of the names in the line above is missing"
#endif
#if !defined(STD_ERROR_HANDLE) || !defined(STD_OUTPUT_HANDLE) || !defined(STILL_ACTIVE)
#error "one of the names in the line above is missing"
#endif
#if !defined(SUBLANG_DEFAULT) || !defined(SUCCEEDED) || !defined(S_OK)
#error "one of the names in the line above is missing"
#endif
#if !defined(TOKEN_ADJUST_PRIVILEGES) || !defined(TOKEN_QUERY)
#error "one of the names in the line above is missing"
#endif
#if !defined(TRACELOGGING_DECLARE_PROVIDER) || !defined(TRACELOGGING_DEFINE_PROVIDER)
#error "one of the names in the line above is missing"
#endif
#if !defined(TRACELOGGING_DEFINE_PROVIDER_STORAGE) || !defined(TRACE_LEVEL_CRITICAL)
#error "one of the names in the line above is missing"
#endif
#if !defined(TRACE_LEVEL_ERROR) || !defined(TRACE_LEVEL_FATAL)
#error "one of the names in the line above is missing"
#endif
#if !defined(TRACE_LEVEL_INFORMATION) || !defined(TRACE_LEVEL_NONE)
#error "one of the names in the line above is missing"
#endif
#if !defined(TRACE_LEVEL_VERBOSE) || !defined(TRACE_LEVEL_WARNING) || !defined(TRUE)
#error "one of the names in the line above is missing"
#endif
#if !defined(TRUNCATE_EXISTING) || !defined(TraceLoggingBinary)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingBool) || !defined(TraceLoggingBoolArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingBoolFixedArray) || !defined(TraceLoggingBoolean)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingBooleanArray) || !defined(TraceLoggingBooleanFixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingChar) || !defined(TraceLoggingChar16)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingChar16Array) || !defined(TraceLoggingChar16FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingCharArray) || !defined(TraceLoggingCharFixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingCountedString) || !defined(TraceLoggingCountedString16)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingCountedUtf8String) || !defined(TraceLoggingCountedWideString)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingDescription) || !defined(TraceLoggingEventTag)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingFileTime) || !defined(TraceLoggingFloat32)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingFloat32Array) || !defined(TraceLoggingFloat32FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingFloat64) || !defined(TraceLoggingFloat64Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingFloat64FixedArray) || !defined(TraceLoggingGuid)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHResult) || !defined(TraceLoggingHexInt16)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexInt16Array) || !defined(TraceLoggingHexInt16FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexInt32) || !defined(TraceLoggingHexInt32Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexInt32FixedArray) || !defined(TraceLoggingHexInt64)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexInt64Array) || !defined(TraceLoggingHexInt64FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexInt8) || !defined(TraceLoggingHexInt8Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexInt8FixedArray) || !defined(TraceLoggingHexIntPtr)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexIntPtrArray) || !defined(TraceLoggingHexIntPtrFixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexLong) || !defined(TraceLoggingHexLongArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexLongFixedArray) || !defined(TraceLoggingHexUInt16)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexUInt16Array) || !defined(TraceLoggingHexUInt16FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexUInt32) || !defined(TraceLoggingHexUInt32Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexUInt32FixedArray) || !defined(TraceLoggingHexUInt64)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexUInt64Array) || !defined(TraceLoggingHexUInt64FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexUInt8) || !defined(TraceLoggingHexUInt8Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexUInt8FixedArray) || !defined(TraceLoggingHexUIntPtr)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexUIntPtrArray) || !defined(TraceLoggingHexUIntPtrFixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexULong) || !defined(TraceLoggingHexULongArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingHexULongFixedArray) || !defined(TraceLoggingIPv4Address)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingIPv6Address) || !defined(TraceLoggingInt16)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingInt16Array) || !defined(TraceLoggingInt16FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingInt32) || !defined(TraceLoggingInt32Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingInt32FixedArray) || !defined(TraceLoggingInt64)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingInt64Array) || !defined(TraceLoggingInt64FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingInt8) || !defined(TraceLoggingInt8Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingInt8FixedArray) || !defined(TraceLoggingIntPtr)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingIntPtrArray) || !defined(TraceLoggingIntPtrFixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingKeyword) || !defined(TraceLoggingLevel)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingLong) || !defined(TraceLoggingLongArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingLongFixedArray) || !defined(TraceLoggingNTStatus)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingOpcode) || !defined(TraceLoggingPackedData)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingPackedField) || !defined(TraceLoggingPackedFieldEx)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingPackedMetadata) || !defined(TraceLoggingPackedMetadataEx)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingPackedStruct) || !defined(TraceLoggingPackedStructArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingPid) || !defined(TraceLoggingPointer)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingPointerArray) || !defined(TraceLoggingPointerFixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingPort) || !defined(TraceLoggingSid)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingString) || !defined(TraceLoggingString16)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingStruct) || !defined(TraceLoggingSystemTime)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUInt16) || !defined(TraceLoggingUInt16Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUInt16FixedArray) || !defined(TraceLoggingUInt32)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUInt32Array) || !defined(TraceLoggingUInt32FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUInt64) || !defined(TraceLoggingUInt64Array)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUInt64FixedArray) || !defined(TraceLoggingUInt8)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUInt8Array) || !defined(TraceLoggingUInt8FixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUIntPtr) || !defined(TraceLoggingUIntPtrArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUIntPtrFixedArray) || !defined(TraceLoggingULong)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingULongArray) || !defined(TraceLoggingULongFixedArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingUtf8String) || !defined(TraceLoggingValue)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingWChar) || !defined(TraceLoggingWCharArray)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingWCharFixedArray) || !defined(TraceLoggingWideString)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingWinError) || !defined(TraceLoggingWrite)
#error "one of the names in the line above is missing"
#endif
#if !defined(TraceLoggingWriteActivity) || !defined(UInt32x32To64)
#error "one of the names in the line above is missing"
#endif
#if !defined(UNALIGNED) || !defined(UNICODE_NULL) || !defined(UNREFERENCED_PARAMETER)
#error "one of the names in the line above is missing"
#endif
#if !defined(USHORT_MAX) || !defined(UlongToHandle) || !defined(WAIT_FAILED)
#error "one of the names in the line above is missing"
#endif
#if !defined(WAIT_OBJECT_0) || !defined(WAIT_TIMEOUT) || !defined(WINAPI)
#error "one of the names in the line above is missing"
#endif
#if !defined(WINAPI_FAMILY_PARTITION) || !defined(WINAPI_PARTITION_DESKTOP)
#error "one of the names in the line above is missing"
#endif
#if !defined(WINEVENT_KEYWORD_WDI_DIAG) || !defined(WINEVENT_LEVEL_CRITICAL)
#error "one of the names in the line above is missing"
#endif
#if !defined(WINEVENT_LEVEL_ERROR) || !defined(WINEVENT_LEVEL_INFO)
#error "one of the names in the line above is missing"
#endif
#if !defined(WINEVENT_LEVEL_LOG_ALWAYS) || !defined(WINEVENT_LEVEL_VERBOSE)
#error "one of the names in the line above is missing"
#endif
#if !defined(WINEVENT_LEVEL_WARNING) || !defined(WINEVENT_OPCODE_START)
#error "one of the names in the line above is missing"
#endif
#if !defined(WINEVENT_OPCODE_STOP) || !defined(WINVER) || !defined(WNODE_FLAG_ALL_DATA)
#error "one of the names in the line above is missing"
#endif
#if !defined(WNODE_FLAG_TRACED_GUID) || !defined(WNODE_FLAG_USE_MOF_PTR)
#error "one of the names in the line above is missing"
#endif
#if !defined(WNODE_FLAG_VERSIONED_PROPERTIES) || !defined(ZeroMemory)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Analysis_assume_) || !defined(_Dispatch_type_) || !defined(_Field_size_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Field_size_bytes_) || !defined(_Function_class_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_IRQL_requires_max_) || !defined(_IRQL_requires_same_) || !defined(_In_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_In_bytecount_) || !defined(_In_count_) || !defined(_In_count_x_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_In_opt_) || !defined(_In_opt_z_) || !defined(_In_range_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_In_reads_) || !defined(_In_reads_bytes_) || !defined(_In_reads_bytes_opt_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_In_reads_opt_) || !defined(_In_z_) || !defined(_In_z_count_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Inout_) || !defined(_Inout_count_) || !defined(_Inout_opt_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Inout_updates_) || !defined(_Inout_updates_bytes_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_InterlockedExchange) || !defined(_Must_inspect_result_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Null_terminated_) || !defined(_Out_) || !defined(_Out_opt_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Out_writes_) || !defined(_Out_writes_bytes_opt_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Out_writes_bytes_to_opt_) || !defined(_Out_writes_opt_z_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Out_writes_to_) || !defined(_Post_invalid_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Printf_format_string_) || !defined(_Ret_bytecount_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Ret_maybenull_) || !defined(_Ret_notnull_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Ret_opt_bytecount_) || !defined(_Ret_opt_z_) || !defined(_Ret_z_)
#error "one of the names in the line above is missing"
#endif
#if !defined(_Return_type_success_) || !defined(_Success_) || !defined(_T)
#error "one of the names in the line above is missing"
#endif
#if !defined(_TRUNCATE) || !defined(_Use_decl_annotations_) || !defined(_WIN32_WINNT)
#error "one of the names in the line above is missing"
#endif
#if !defined(_WIN32_WINNT_VISTA) || !defined(_WIN32_WINNT_WIN10)
#error "one of the names in the line above is missing"
#endif
#if !defined(_WIN32_WINNT_WIN7) || !defined(_WIN32_WINNT_WIN8)
#error "one of the names in the line above is missing"
#endif
#if !defined(_WIN32_WINNT_WINBLUE) || !defined(__analysis_assume)
#error "one of the names in the line above is missing"
#endif
#if !defined(__annotation) || !defined(__assume) || !defined(__cdecl)
#error "one of the names in the line above is missing"
#endif
#if !defined(__fallthrough) || !defined(__inline) || !defined(__stdcall)
#error "one of the names in the line above is missing"
#endif
#if !defined(_aligned_free) || !defined(_alloca) || !defined(_byteswap_uint64)
#error "one of the names in the line above is missing"
#endif
#if !defined(_byteswap_ulong) || !defined(_byteswap_ushort) || !defined(_countof)
#error "one of the names in the line above is missing"
#endif
#if !defined(_rotl) || !defined(_setmode)
#error "one of the names in the line above is missing"
#endif
