# SPDX-License-Identifier: MIT
import datetime
import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

_Path = Union[str, bytes, "os.PathLike[str]"]
_Date = Union[datetime.datetime, int]
_Time = Union[datetime.datetime, float, int]

__version__: str

class Error(Exception):
    code: int
    def __init__(self, code: int, text: str) -> None: ...

class Event:
    filetime: int
    provider: str
    name: str
    id: int
    version: int
    level: int
    pid: Optional[int]
    tid: Optional[int]
    cpu: Optional[int]
    process: Optional[str]
    file: Optional[str]
    stack: Tuple[int, ...]
    json: Optional[str]
    payload: Optional[bytes]
    @property
    def time(self) -> datetime.datetime: ...
    @property
    def fields(self) -> "dict[str, Any]": ...
    @property
    def decoded(self) -> str: ...
    def __getitem__(self, name: str) -> Any: ...
    def get(self, name: str, default: Any = ...) -> Any: ...

class Reader(Iterator[Event]):
    def __init__(self, *files: _Path, session: Optional[str] = ..., fields: bool = ..., origin: bool = ..., stacks: bool = ...,
                 cpu: bool = ..., headers: bool = ..., pids: Iterable[int] = ..., processes: Iterable[str] = ...,
                 providers: Iterable[str] = ..., start: Optional[_Date] = ..., stop: Optional[_Date] = ...,
                 payload: bool = ...) -> None: ...
    def __next__(self) -> Event: ...
    def poll(self, timeout: float = ...) -> Optional[List[Event]]: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...
    @property
    def lost(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    @property
    def lost_unknown(self) -> bool: ...
    def __enter__(self) -> "Reader": ...
    def __exit__(self, *_: object) -> None: ...

def events(*files: _Path, filter: Optional[str] = ..., start: Optional[_Date] = ..., stop: Optional[_Date] = ...,
           payload: bool = ..., **options: Any) -> Iterator[Event]: ...
def read(*files_and_callback: Union[_Path, Callable[[Event], Any]], **options: Any) -> int: ...
def live(session: str, **options: Any) -> Reader: ...
def load_schema(path: _Path) -> None: ...
def datetime_of(filetime: int) -> datetime.datetime: ...
def filetime_of(when: _Date) -> int: ...

class Symbols:
    def __init__(self, file: _Path) -> None: ...
    def name(self, address: int, pid: Optional[int], filetime: int) -> Optional[str]: ...
    def stack_names(self, event: Event) -> Tuple[Optional[str], ...]: ...

class Answer(NamedTuple):
    matched: int
    scanned: int
    decoded: int
    undecided: int
    exact: bool
    partial: bool

class Type(NamedTuple):
    provider: str
    name: str
    id: int
    version: int
    level: int
    opcode: int
    task: int
    channel: int
    keyword: int
    events: int

class Process(NamedTuple):
    pid: Optional[int]
    parent_pid: Optional[int]
    name: str
    command_line: str
    start: Optional[int]
    end: Optional[int]
    exit_code: Optional[int]
    file: int

class Thread(NamedTuple):
    tid: Optional[int]
    process: int
    name: str
    start: Optional[int]
    end: Optional[int]

class Facet(NamedTuple):
    value: Optional[str]
    count: int  # type: ignore[assignment]
    first: int
    last: int

class Group(NamedTuple):
    path: Tuple[Optional[str], ...]
    count: int  # type: ignore[assignment]
    values: int
    sum: float
    min: float
    max: float
    average: float
    p50: float
    p99: float

class Histogram(NamedTuple):
    start: int
    bucket: float
    series: "dict[Optional[str], Sequence[int]]"

class StackNode(NamedTuple):
    depth: int
    parent: Optional[int]
    process: int
    address: int
    self_: float
    total: float

class Columns(Dict[str, Sequence[Any]]):
    answer: Answer
    @property
    def rows(self) -> int: ...

class Trace:
    about: "dict[str, Any]"
    def __init__(self, *files: _Path, write_index: Optional[bool] = ...) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> "Trace": ...
    def __exit__(self, *_: object) -> None: ...
    def __len__(self) -> int: ...
    @property
    def start(self) -> datetime.datetime: ...
    def time_of(self, when: _Time) -> int: ...
    def date_of(self, ns: int) -> datetime.datetime: ...
    def type(self, number: int) -> Type: ...
    def process(self, number: int) -> Process: ...
    def thread(self, number: int) -> Thread: ...
    def stack(self, number: int) -> Tuple[int, ...]: ...
    def types(self) -> List[Type]: ...
    def processes(self) -> List[Process]: ...
    def count(self, filter: Optional[str] = ..., start: Optional[_Time] = ..., stop: Optional[_Time] = ...) -> Answer: ...
    def facets(self, by: str, filter: Optional[str] = ..., start: Optional[_Time] = ..., stop: Optional[_Time] = ...,
               most: int = ...) -> List[Facet]: ...
    def group(self, keys: Union[str, Sequence[str]], filter: Optional[str] = ..., start: Optional[_Time] = ...,
              stop: Optional[_Time] = ..., field: Optional[str] = ..., most: int = ...) -> List[Group]: ...
    def histogram(self, buckets: int = ..., by: Optional[str] = ..., filter: Optional[str] = ..., start: Optional[_Time] = ...,
                  stop: Optional[_Time] = ..., most: int = ...) -> Histogram: ...
    def stacks(self, filter: Optional[str] = ..., start: Optional[_Time] = ..., stop: Optional[_Time] = ...,
               field: Optional[str] = ..., inverted: bool = ..., kernel: bool = ..., least: float = ...) -> List[StackNode]: ...
    def columns(self, *names: str, filter: Optional[str] = ..., start: Optional[_Time] = ..., stop: Optional[_Time] = ...,
                position: int = ..., count: Optional[int] = ...) -> Columns: ...
    def events(self, filter: Optional[str] = ..., start: Optional[_Time] = ..., stop: Optional[_Time] = ..., position: int = ...,
               count: Optional[int] = ..., payload: bool = ...) -> Iterator[Event]: ...

class Session:
    name: str
    def __init__(self, name: str, file: Optional[_Path] = ..., providers: Iterable[Union[str, Tuple[Any, ...]]] = ...,
                 live: bool = ..., max_mib: int = ..., circular: bool = ..., kernel: Optional[str] = ...,
                 stacks: Optional[str] = ..., pids: Iterable[int] = ..., replace: bool = ...) -> None: ...
    def start(self) -> "Session": ...
    def events(self, **options: Any) -> Reader: ...
    def listen(self, callback: Callable[[Event], Any], **options: Any) -> int: ...
    def stop(self) -> None: ...
    @property
    def note(self) -> str: ...
    def __enter__(self) -> "Session": ...
    def __exit__(self, *_: object) -> None: ...
