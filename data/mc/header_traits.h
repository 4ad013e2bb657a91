#ifndef MCGEN_DISABLE_PROVIDER_CODE_GENERATION

#ifndef McGenEventSetInformation_def
#define McGenEventSetInformation_def
#define McGenEventSetInformation _mcgen_PASTE2(McGenEventSetInformation_, MCGEN_EVENTSETINFORMATION)
_mcgen_FUNCTION
ULONG
McGenEventSetInformation(
    _In_ REGHANDLE RegHandle,
    _In_ EVENT_INFO_CLASS InformationClass,
    _In_opt_ PVOID EventInformation,
    _In_ ULONG InformationLength
    )
{
#if MCGEN_HAVE_EVENTSETINFORMATION == 1
    return MCGEN_EVENTSETINFORMATION(RegHandle, InformationClass, EventInformation, InformationLength);
#elif MCGEN_HAVE_EVENTSETINFORMATION == 2
    /* The client includes windows.h. */
    typedef ULONG (WINAPI *SetInformation)(REGHANDLE, EVENT_INFO_CLASS, PVOID, ULONG);
    static const WCHAR Library[] = {'a', 'd', 'v', 'a', 'p', 'i', '3', '2', 0};
    ULONG Error = ERROR_NOT_SUPPORTED;
    HMODULE Module;

    if (GetModuleHandleExW(0, Library, &Module)) {
        SetInformation Function = (SetInformation)GetProcAddress(Module, "EventSetInformation");
        if (Function != NULL) {
            Error = Function(RegHandle, InformationClass, EventInformation, InformationLength);
        }
        FreeLibrary(Module);
    }
    return Error;
#else
    (void)RegHandle;
    (void)InformationClass;
    (void)EventInformation;
    (void)InformationLength;
    return ERROR_NOT_SUPPORTED;
#endif
}
#endif

/* For providers with traits. A failure to tell them does not undo the registration. */
#ifndef McGenEventRegisterContext_def
#define McGenEventRegisterContext_def
#define McGenEventRegisterContext _mcgen_PASTE2(McGenEventRegisterContext_, MCGEN_EVENTREGISTER)
_mcgen_FUNCTION
ULONG
McGenEventRegisterContext(
    _In_ LPCGUID ProviderId,
    _In_opt_ MCGEN_PENABLECALLBACK EnableCallback,
    _In_opt_ PVOID CallbackContext,
    _Inout_ MCGEN_TRACE_CONTEXT* Context
    )
{
    ULONG Error;

    if (Context->RegistrationHandle != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    Error = MCGEN_EVENTREGISTER(
        ProviderId,
        EnableCallback,
        CallbackContext,
        &Context->RegistrationHandle);
    if (Error == 0 && Context->Logger != 0) {
        UCHAR* Traits = (UCHAR*)(ULONG_PTR)Context->Logger;
        (void)McGenEventSetInformation(
            Context->RegistrationHandle,
            (EVENT_INFO_CLASS)2, /* EventProviderSetTraits */
            Traits,
            Traits[0] | (ULONG)Traits[1] << 8);
    }
    return Error;
}
#endif

#endif /* MCGEN_DISABLE_PROVIDER_CODE_GENERATION */

