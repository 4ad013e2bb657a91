# SPDX-License-Identifier: MIT
"""Python programs that call ETW through ctypes as on Windows.

    python3 -m openetw_windll PROGRAM.py [ARGUMENT]...     runs one as it is
    import openetw_windll                                  or at the top of one's own

gives ctypes the names it has on Windows only: WinDLL, OleDLL, windll, WINFUNCTYPE, GetLastError,
WinError, FormatError. The DLLs that ETW programs name are the libraries beside this file.

Strings of the wide functions have 16 bits. ctypes' c_wchar has 32 on this system: pass the bytes of
utf16("text") as c_void_p or c_char_p instead of c_wchar_p, and read with wstring_at16().
"""
import ctypes
import os
import runpy
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_real_cdll = ctypes.CDLL


def utf16(text):
    """The characters of text as a terminated UTF-16 string."""
    return text.encode("utf-16-le") + b"\0\0"


def wstring_at16(address, length=None):
    """The UTF-16 string at an address: of so many units, or up to its terminator."""
    if length is None:
        length = 0
        while ctypes.string_at(address + 2 * length, 2) != b"\0\0":
            length += 1
    return ctypes.string_at(address, 2 * length).decode("utf-16-le", "replace")


class WinDLL(_real_cdll):
    """A DLL by its Windows name: whatever its case, with ".dll" or without."""

    def __init__(self, name, mode=ctypes.DEFAULT_MODE, handle=None, use_errno=False,
                 use_last_error=False, winmode=None):
        path = name
        if name and os.sep not in name:
            base = name.lower()
            base = base if base.endswith(".dll") else base + ".dll"
            if os.path.exists(os.path.join(_HERE, base)):
                path = os.path.join(_HERE, base)
        # The flags of LoadLibraryEx say nothing here.
        super().__init__(path, ctypes.DEFAULT_MODE, handle, use_errno)


class HRESULT(ctypes._SimpleCData):
    """A result that raises OSError when it is negative."""
    _type_ = "i"

    @classmethod
    def _check_retval_(cls, value):
        if value < 0:
            raise WinError(value)
        return value


class OleDLL(WinDLL):
    _func_restype_ = HRESULT


def GetLastError():
    """The calling thread's last error."""
    function = WinDLL("kernel32").GetLastError
    function.restype = ctypes.c_uint32
    return function()


def FormatError(code=None):
    """The text of a Win32 code; of the last error when there is none."""
    code = GetLastError() if code is None else code
    buffer = ctypes.create_string_buffer(1024)
    function = WinDLL("kernel32").FormatMessageA
    function.restype = ctypes.c_uint32
    function.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                         ctypes.c_char_p, ctypes.c_uint32, ctypes.c_void_p]
    n = function(0x1200, None, code & 0xFFFFFFFF, 0, buffer, len(buffer), None)
    return buffer.raw[:n].decode("utf-8", "replace").strip() or "<no description>"


def WinError(code=None, descr=None):
    """An OSError for a Win32 code, with the code in its attribute winerror."""
    code = GetLastError() if code is None else code
    error = OSError(code, descr or FormatError(code))
    error.winerror = code
    return error


def install():
    """Puts the names into ctypes."""
    ctypes.WinDLL = WinDLL
    ctypes.OleDLL = OleDLL
    ctypes.HRESULT = HRESULT
    ctypes.WINFUNCTYPE = ctypes.CFUNCTYPE
    ctypes.windll = ctypes.LibraryLoader(WinDLL)
    ctypes.oledll = ctypes.LibraryLoader(OleDLL)
    ctypes.GetLastError = GetLastError
    ctypes.get_last_error = GetLastError
    ctypes.FormatError = FormatError
    ctypes.WinError = WinError


install()

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
