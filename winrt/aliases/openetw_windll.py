# SPDX-License-Identifier: MIT
"""Python programs that call ETW through ctypes as on Windows.

    python3 -m openetw_windll PROGRAM.py [ARGUMENT]...     runs one as it is
    import openetw_windll                                  or at the top of one's own

gives ctypes the names it has on Windows only: WinDLL, OleDLL, windll, WINFUNCTYPE, GetLastError,
WinError, FormatError. The DLLs that ETW programs name are the libraries beside this file.

A program that is run as it is also finds the sizes of Windows: c_long and c_ulong (so wintypes.DWORD) have
32 bits; c_wchar, c_wchar_p, create_unicode_buffer and strings that are passed to functions 16. One that
imports this module keeps Linux's until it calls as_windows(), before it defines structures; else it passes the
bytes of utf16("text") as c_void_p or c_char_p instead of c_wchar_p, and reads with wstring_at16().
"""
import ctypes
import importlib
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


_real_structure, _real_union = ctypes.Structure, ctypes.Union
_sixteen_bits = False  # as_windows() was called


class _WideType(type(ctypes.c_uint16)):
    """Arrays of c_wchar are strings."""

    def __mul__(cls, count):
        if count not in cls._arrays:
            array = type(ctypes.c_uint16 * 1)("c_wchar_Array_%d" % count, (_WideArray,),
                                              {"_type_": ctypes.c_uint16, "_length_": count})
            cls._arrays[count] = array
        return cls._arrays[count]

    __rmul__ = __mul__


class c_wchar(ctypes.c_uint16, metaclass=_WideType):
    """A UTF-16 unit."""
    _arrays = {}

    def __init__(self, value="\0"):
        super().__init__(ord(value) if isinstance(value, str) else value)

    @property
    def value(self):
        return chr(ctypes.c_uint16.value.__get__(self))

    @value.setter
    def value(self, new):
        ctypes.c_uint16.value.__set__(self, ord(new) if isinstance(new, str) else new)


class _Text:
    """What an array of c_wchar has."""

    def _bytes(self):
        return bytes(memoryview(self).cast("B"))

    @property
    def value(self):
        raw = self._bytes()
        ends = [i for i in range(0, len(raw), 2) if raw[i:i + 2] == b"\0\0"]
        return raw[:ends[0] if ends else len(raw)].decode("utf-16-le", "replace")

    @value.setter
    def value(self, text):
        raw = text.encode("utf-16-le")
        if len(raw) > ctypes.sizeof(self):
            raise ValueError("string too long")
        ctypes.memmove(self, raw + b"\0\0", min(len(raw) + 2, ctypes.sizeof(self)))

    def __getitem__(self, index):
        raw = self._bytes()
        if isinstance(index, slice):
            units = [raw[2 * i:2 * i + 2] for i in range(*index.indices(len(raw) // 2))]
            return b"".join(units).decode("utf-16-le", "replace")
        return chr(super().__getitem__(index))

    def __setitem__(self, index, new):
        super().__setitem__(index, ord(new) if isinstance(new, str) else new)


class _WideArray(_Text, ctypes.Array):
    _type_ = ctypes.c_uint16
    _length_ = 0


def create_unicode_buffer(init, size=None):
    if isinstance(init, int):
        return (c_wchar * init)()
    buffer = (c_wchar * (size if size is not None else len(init.encode("utf-16-le")) // 2 + 1))()
    buffer.value = init
    return buffer


class c_wchar_p(ctypes.c_void_p):
    """A pointer to UTF-16 units; None or str to the program."""

    def __init__(self, value=None):
        self._kept = create_unicode_buffer(value) if isinstance(value, str) else None
        super().__init__(ctypes.addressof(self._kept) if self._kept is not None else value)

    @property
    def value(self):
        address = ctypes.c_void_p.value.__get__(self)
        return None if address is None else wstring_at16(address)

    @value.setter
    def value(self, new):
        self._kept = create_unicode_buffer(new) if isinstance(new, str) else None
        ctypes.c_void_p.value.__set__(self, ctypes.addressof(self._kept) if self._kept is not None else new)

    @classmethod
    def from_param(cls, value):
        if isinstance(value, str):
            return create_unicode_buffer(value)
        if isinstance(value, (cls, ctypes.Array)) or value is None:
            return value
        return ctypes.c_void_p.from_param(value)


class _Fields:
    """Fields of wide types are str, as on Windows."""

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return value.value if isinstance(value, (c_wchar_p, c_wchar, _WideArray)) else value

    def __setattr__(self, name, value):
        if isinstance(value, (str, c_wchar_p)):
            kind = type(super().__getattribute__(name)) if hasattr(type(self), name) else None
            if kind is c_wchar_p:
                value = value if isinstance(value, c_wchar_p) else c_wchar_p(value)
                # A structure that lies in another one is made anew at each look.
                root = self
                while getattr(root, "_b_base_", None) is not None:
                    root = root._b_base_
                vars(root).setdefault("_kept", []).append(value)
            elif kind is c_wchar:
                value = c_wchar(value)
            elif kind is not None and issubclass(kind, _WideArray):
                super().__getattribute__(name).value = value
                return
        super().__setattr__(name, value)


class Structure(_Fields, _real_structure):
    def __init__(self, *values, **named):
        super().__init__()
        names = [f[0] for c in reversed(type(self).__mro__) for f in vars(c).get("_fields_", ())]
        if len(values) > len(names):
            raise TypeError("too many initializers")
        for name, value in list(zip(names, values)) + list(named.items()):
            setattr(self, name, value)


class Union(_Fields, _real_union):
    pass


def as_windows():
    """Gives ctypes the sizes of Windows. What was defined before keeps those of Linux."""
    global _sixteen_bits
    _sixteen_bits = True
    ctypes.c_long, ctypes.c_ulong = ctypes.c_int, ctypes.c_uint
    ctypes.c_wchar, ctypes.c_wchar_p = c_wchar, c_wchar_p
    ctypes.create_unicode_buffer = create_unicode_buffer
    ctypes.wstring_at = lambda address, size=-1: wstring_at16(
        ctypes.cast(address, ctypes.c_void_p).value, None if size < 0 else size)
    ctypes.Structure, ctypes.Union = Structure, Union
    for name in ("ctypes.wintypes",):
        if name in sys.modules:
            importlib.reload(sys.modules[name])


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
        plain = self._FuncPtr

        class Function(plain):
            _flags_, _restype_ = plain._flags_, plain._restype_

            def __call__(self, *args):
                if _sixteen_bits:
                    args = [create_unicode_buffer(a) if isinstance(a, str) else a for a in args]
                return super().__call__(*args)

        self._FuncPtr = Function


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
    as_windows()
    sys.modules["openetw_windll"] = sys.modules["__main__"]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
