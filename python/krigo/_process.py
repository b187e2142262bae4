"""The program beside this process: one, started when it is first needed, that any thread may ask.

Two threads of their own write its requests and read its replies (docs/pipe.md has the frames), so that an exception in the
thread that asks, as of ^C, can't leave half a frame behind.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import os
import queue
import signal
import struct
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import IO, Any, TypeAlias

from . import _program
from ._errors import KrigoError, of_reply

PROTOCOL = 1

# How much memory the program may take, as the flag --memory has it.
MEMORY = "KRIGO_MEMORY"

Event: TypeAlias = dict[str, Any]
Buffer: TypeAlias = bytes | memoryview

# On Windows ^C doesn't end a wait without a limit.
_WAIT = 0.1 if os.name == "nt" else None


class Gone(KrigoError):
    """The program ended before it replied."""


class Reply:
    """What came back: the result, and buffers by name."""

    def __init__(self, process: Process, result: dict[str, Any], buffers: dict[str, bytes]) -> None:
        self.process = process
        self.result = result
        self.buffers = buffers


_Frame: TypeAlias = tuple[dict[str, Any], list[bytes]]


class Process:
    """One running program."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.alive = True
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the program runs)
        # A group of its own: ^C in a terminal is for Python, which cancels what is asked for and keeps the program.
        apart: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        limit = os.environ.get(MEMORY)
        command = [_program.path(), "pipe", *(["--memory", limit] if limit else [])]
        try:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0, **apart)
        except OSError as e:
            raise KrigoError(f"krigo can't be started: {e}") from e
        assert self._child.stdin is not None and self._child.stdout is not None
        self._to, self._from = self._child.stdin, self._child.stdout
        self._numbers = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[_Frame | None]] = {}
        self._requests: queue.SimpleQueue[list[Buffer] | None] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="krigo requests", daemon=True).start()
        threading.Thread(target=self._read, name="krigo replies", daemon=True).start()
        try:
            found = self.call("hello").result
        except BaseException:
            self.end()
            raise
        if found.get("protocol") != PROTOCOL:
            self.end()
            raise KrigoError(f"{_program.path()} is of version {found.get('version')}, whose requests aren't this package's: use the one that comes with it")

    @property
    def pid(self) -> int:
        return self._child.pid

    def call(self, op: str, buffers: Sequence[Buffer] = (), progress: Callable[[Event], None] | None = None, **header: Any) -> Reply:
        """Asks, and waits for the reply. An exception in between, as of ^C, cancels the request."""
        number = next(self._numbers)
        replies: queue.SimpleQueue[_Frame | None] = queue.SimpleQueue()
        self._waiting[number] = replies
        try:
            self._send({"id": number, "op": op, **header}, buffers)
            if not self.alive:  # the reader may have gone before it saw this one
                replies.put(None)
            while True:
                try:
                    frame = replies.get(timeout=_WAIT)
                except queue.Empty:
                    continue
                if frame is None:
                    raise Gone(self._obituary(op))
                head, data = frame
                if "event" not in head:
                    break
                if progress is not None:
                    progress(head["event"])
        except BaseException as e:
            if not isinstance(e, Gone):
                self._send({"id": number, "op": "cancel"})
            raise
        finally:
            self._waiting.pop(number, None)
        if head.get("error"):
            raise of_reply(head["error"])
        return Reply(self, head.get("result") or {}, dict(zip(head.get("names") or (), data, strict=False)))

    def forget(self, model: int) -> None:
        """Has the program forget a model. Nobody waits for it: this is called where garbage is collected."""
        if self.alive and self.owner == os.getpid():
            self._send({"id": 0, "op": "close", "model": model})

    def _send(self, header: dict[str, Any], buffers: Sequence[Buffer] = ()) -> None:
        header["buffers"] = [memoryview(b).nbytes for b in buffers]
        text = json.dumps(header, default=_plain).encode()
        self._requests.put([struct.pack("<I", len(text)) + text, *buffers])

    def _write(self) -> None:
        try:
            while (frame := self._requests.get()) is not None:
                for part in frame:
                    rest = memoryview(part).cast("B")
                    while rest:
                        rest = rest[self._to.write(rest[: 1 << 24]) or 0 :]
        except (OSError, ValueError):
            pass  # it is gone, as the reader sees too
        with contextlib.suppress(OSError):
            self._to.close()  # at which the program ends

    def _read(self) -> None:
        try:
            while True:
                (length,) = struct.unpack("<I", self._exactly(4))
                head: dict[str, Any] = json.loads(self._exactly(length))
                data = [self._exactly(size) for size in head.get("buffers") or ()]
                asked = self._waiting.get(head["id"])
                if asked is not None:
                    asked.put((head, data))
                elif "event" not in head and (head.get("result") or {}).get("model"):
                    self.forget(head["result"]["model"])  # of a request that was given up
        except (EOFError, OSError, ValueError):
            pass
        self.alive = False
        self._requests.put(None)
        for asked in list(self._waiting.values()):
            asked.put(None)

    def _exactly(self, size: int) -> bytes:
        data = bytearray(size)
        rest = memoryview(data)
        while rest:
            n = self._from.readinto(rest)  # type: ignore[attr-defined]
            if not n:
                raise EOFError
            rest = rest[n:]
        return bytes(data)

    def _obituary(self, op: str) -> str:
        try:
            status: object = self._child.wait(5)
        except subprocess.TimeoutExpired:
            status = "none"
        if isinstance(status, int) and status < 0:
            with contextlib.suppress(ValueError):
                status = signal.Signals(-status).name
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        said = self._errors.read().decode(errors="replace").strip()
        return f"krigo ended while it was asked to {op} (exit status {status})" + (": " + said if said else "; was there too little memory?")

    def end(self) -> None:
        """Ends the program, and waits until it has."""
        self.alive = False
        self._requests.put(None)
        try:
            self._child.wait(2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def abandon(self) -> None:
        """Lets go of another process's pipes, so that they end with that process."""
        self.alive = False
        for end in (self._to, self._from):
            with contextlib.suppress(OSError):
                end.close()
        self._child.returncode = 0  # it is no child of this process, which shouldn't wait for it


def _plain(value: Any) -> Any:
    """Numbers of numpy, as JSON knows them."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} can't be sent: want numbers and text")


_current: Process | None = None
_starting = threading.Lock()


def current() -> Process:
    """The program, which is started if there is none."""
    global _current
    process = _current
    if process is not None and process.alive:
        return process
    with _starting:
        if _current is None or not _current.alive:
            _current = Process()
        return _current


def ask(op: str, buffers: Sequence[Buffer] = (), model: Model | None = None, again: bool = True, progress: Callable[[Event], None] | None = None, **header: Any) -> Reply:
    """Asks the program, a new one where it ended on the way and that can do no harm."""
    for last in (not again, True):
        process = current()
        try:
            if model is not None:
                header["model"] = model.number(process)
            return process.call(op, buffers, progress, **header)
        except Gone:
            if last:
                raise
    raise AssertionError


class Model:
    """A model file in memory, and what krigo says of it. Programs that were asked about it have it under a number."""

    def __init__(self, file: bytes, about: dict[str, Any] | None = None) -> None:
        self.file = file
        self._numbers: dict[int, tuple[weakref.ref[Process], int]] = {}
        self.about: dict[str, Any] = about if about is not None else {}
        if about is None:
            self.number(current())

    def number(self, process: Process) -> int:
        """That which a running program has it under; it is given the file if it hasn't."""
        known = self._numbers.get(id(process))
        if known is not None and known[0]() is process:
            return known[1]
        about = process.call("load", [self.file]).result
        self.about = self.about or about
        return self.known(process, about["model"])

    def known(self, process: Process, number: int) -> int:
        """Says under which number a program has it, and has that forgotten with this."""
        entry = (weakref.ref(process), number)
        self._numbers[id(process)] = entry
        weakref.finalize(self, _forget, *entry)
        return number

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self.file, "about": self.about}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["file"], state["about"])  # type: ignore[misc]

    def __deepcopy__(self, memo: object) -> Model:
        return self  # nothing changes it


def _forget(process: weakref.ref[Process], number: int) -> None:
    at = process()
    if at is not None:
        at.forget(number)


@atexit.register
def _end() -> None:
    global _current
    process, _current = _current, None
    if process is not None and process.owner == os.getpid() and process.alive:
        process.end()


def _forked() -> None:
    """In a child of this process: the program is the parent's, and a thread that isn't here may hold the lock."""
    global _current, _starting
    process, _current, _starting = _current, None, threading.Lock()
    if process is not None:
        process.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
