#pragma once

/*
 * How to pass data to the write macros:
 *
 *   struct, array of structs     size in bytes of one struct, then a pointer to the members laid end
 *                                to end without padding
 *   array of texts               size in characters of the whole, terminators included, then a
 *                                pointer to the texts laid end to end
 *   text, bytes with a length    a pointer to exactly that much; arrays: to all elements end to end
 *   counted text, bytes          size in characters (counted bytes: in bytes), then a pointer
 *   array of counted items       size of the whole, then a pointer to the items, each with its size
 *                                in bytes as UINT16 in front
 *   SID                          a pointer; array of SIDs: size in bytes, then a pointer to all
 *
 * Macros that a source may define before it includes this header:
 *
 *   MCGEN_DISABLE_PROVIDER_CODE_GENERATION   only constants and descriptors
 *   MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION  ..._ForContext macros: contexts that the caller allocates
 *   MCGEN_PRIVATE_ENABLE_CALLBACK_V2         a function to call on every enable and disable
 *   MCGEN_EVENTREGISTER, MCGEN_EVENTUNREGISTER, MCGEN_EVENTSETINFORMATION, MCGEN_EVENTWRITETRANSFER
 *                                            functions to call instead of those of ETW: plain
 *                                            identifiers, the same in all headers of a source
 *   MCGEN_EVENT_ENABLED, MCGEN_EVENT_ENABLED_FORCONTEXT
 *                                            what the write macros ask first
 *   MCGEN_HAVE_EVENTSETINFORMATION           0: do without, 1: call it, 2: look for it at run time
 *   MCGEN_GETLENGTHSID, MCGEN_PENABLECALLBACK, ETW_INLINE
 *   MCGEN_NO_EMBEDDED_MANIFEST               programs do not carry the manifest in a section
 */

#include <string.h>
#include <wmistr.h>
#include <evntrace.h>
#include <evntprov.h>

#ifndef ETW_INLINE
  #ifdef __GNUC__
    #define ETW_INLINE static __inline__ __attribute__((unused))
  #else
    #define ETW_INLINE __inline
  #endif
#endif

/* Every module has one copy of the data below, like a Windows DLL: weak, and not seen outside. */
#ifndef _mcgen_DECLARE
  #ifdef __ELF__
    #define _mcgen_DECLARE __attribute__((weak, visibility("hidden")))
    #define _mcgen_DEFINE
  #else
    #define _mcgen_DECLARE
    #define _mcgen_DEFINE  __declspec(selectany)
  #endif
#endif
#ifndef _mcgen_FUNCTION
  #ifdef __GNUC__
    #define _mcgen_FUNCTION static __attribute__((noinline, unused))
  #else
    #define _mcgen_FUNCTION DECLSPEC_NOINLINE __inline
  #endif
#endif

#if defined(__cplusplus)
extern "C" {
#endif

