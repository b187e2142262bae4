"""Runs the program krigo beside this process. The first request starts the program, and all threads share the program.

One thread writes the requests and another thread reads the replies (docs/reference/pipe.md describes the frames).
An exception in the thread that asks, for example ^C, therefore can't leave half a frame in the pipe.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import math
import os
import queue
import signal
import struct
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import IO, Any, TypeAlias

import numpy as np

from . import _program
from ._errors import Flags, KrigoError, UsageError, in_python, of_reply, spoken

PROTOCOL = 1

# MEMORY is the environment variable that limits the program's memory. Its value is written as for the flag --memory.
MEMORY = "KRIGO_MEMORY"

Event: TypeAlias = dict[str, Any]
Buffer: TypeAlias = bytes | memoryview

# On Windows, ^C doesn't interrupt a wait without a time limit.
_WAIT = 0.1 if os.name == "nt" else None


# _PATIENCE is how many seconds the program has to say that it is krigo. An idle machine needs about 0.01 s.
_PATIENCE = 30.0
_LOOK = 0.1


class Gone(KrigoError):
    """The program ended before it replied."""

    unsent = False  # whether the request had no effect, because the program didn't get all of the request


class _Silent(KrigoError):
    """The program didn't reply in time."""


class Reply:
    """A reply of the program: the result, and buffers by name."""

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
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (stays open while the program runs)
        # The program has its own process group: ^C in a terminal reaches only Python, which then cancels the request.
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
        self._requests: queue.SimpleQueue[tuple[int, list[Buffer]] | None] = queue.SimpleQueue()
        self._sent: set[int] = set()  # the numbers of waiting requests that were sent whole
        self._flags: Flags | None = None
        self._broken: Exception | None = None  # why a reply couldn't be read
        self._writer = threading.Thread(target=self._write, name="krigo requests", daemon=True)
        self._reader = threading.Thread(target=self._read, name="krigo replies", daemon=True)
        self._writer.start()
        self._reader.start()
        weakref.finalize(self, self._errors.close).atexit = False  # type: ignore[misc]
        try:
            found = self.call("hello", patience=_PATIENCE).result
        except _Silent:
            how = f"didn't say within {_PATIENCE:g} seconds that it is krigo" if self._child.poll() is None else "ended without saying that it is krigo"
            self._child.kill()
            said = self._last_words()
            self.end()
            raise KrigoError(f"{command[0]} was started, and {how}{said}. {_named()}") from None
        except Gone as e:
            self.end()
            raise Gone(f"{command[0]}: {e}. {_named()}") from None
        except BaseException:
            self.end()
            raise
        if found.get("protocol") != PROTOCOL:
            self.end()
            raise KrigoError(f"{command[0]} has version {found.get('version')} and doesn't know this package's requests: use the program that comes with the package. {_named()}")
        self.version = str(found.get("version"))

    @property
    def pid(self) -> int:
        return self._child.pid

    def call(self, op: str, buffers: Sequence[Buffer] = (), progress: Callable[[Event], None] | None = None, patience: float | None = None, **header: Any) -> Reply:
        """Sends a request and returns the reply.

        If no reply comes for patience seconds, call raises _Silent. If _Silent, ^C or an exception of progress ends the
        wait, call cancels the request.
        """
        number = next(self._numbers)
        request = _frame({"id": number, "op": op, **header}, buffers)
        replies: queue.SimpleQueue[_Frame | None] = queue.SimpleQueue()
        self._waiting[number] = replies
        try:
            self._requests.put((number, request))
            if not self.alive:  # the reader may have ended before it saw this request
                replies.put(None)
            until = None if patience is None else time.monotonic() + patience
            while True:
                try:
                    frame = replies.get(timeout=_WAIT if until is None else _LOOK)
                except queue.Empty:
                    if until is not None and time.monotonic() > until:
                        raise _Silent from None
                    if until is not None and self._child.poll() is not None:  # the program has ended, but another process may hold its pipes open
                        until = min(until, time.monotonic() + 1)
                    continue
                if frame is None:
                    raise self._gone(op, number)
                head, data = frame
                if "event" not in head:
                    break
                if progress is not None:
                    progress(head["event"])
        except BaseException as e:
            if not isinstance(e, Gone):
                self._requests.put((0, _frame({"id": number, "op": "cancel"})))
            raise
        finally:
            self._waiting.pop(number, None)
            self._sent.discard(number)
        if head.get("error"):
            about = head["error"]
            raise of_reply(about, self.flags() if about.get("kind") == "usage" or "--" in str(about.get("message")) else None)
        result = head.get("result") or {}
        return Reply(self, result if op == "schema" else spoken(result, self.flags), dict(zip(head.get("names") or (), data, strict=False)))

    def flags(self) -> Flags:
        """Returns the flags that are parameters in Python, with the words that each takes. The first message with a flag asks for them."""
        if self._flags is None:
            self._flags = {}
            with contextlib.suppress(KrigoError):
                of = self.call("schema").result
                named = [o for o in of["evaluate"] if o["name"] == "params"]
                self._flags = {o["name"]: o.get("values") or () for o in [*of["predict"], *named, *of["fit"]]}
        return self._flags

    def forget(self, model: int) -> None:
        """Tells the program to forget a model, without waiting, because the garbage collector calls forget."""
        if self.alive and self.owner == os.getpid():
            self._requests.put((0, _frame({"id": 0, "op": "close", "model": model})))

    def _write(self) -> None:
        try:
            while (request := self._requests.get()) is not None:
                number, frame = request
                for part in frame:
                    rest = memoryview(part).cast("B")
                    while rest:
                        rest = rest[self._to.write(rest[: 1 << 24]) or 0 :]
                if number in self._waiting:
                    self._sent.add(number)
        except (OSError, ValueError):
            pass  # the program has ended, and the reader notices the end too
        with contextlib.suppress(OSError):
            self._to.close()  # the end of its input ends the program

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
                    self.forget(head["result"]["model"])  # no thread waits for this model any more
        except (EOFError, OSError):
            pass
        except Exception as e:  # a frame can't be read, or memory is short: every call that waits must end
            self._broken = e
        self.alive = False
        self._requests.put(None)
        for asked in list(self._waiting.values()):
            asked.put(None)
        with contextlib.suppress(OSError):
            self._from.close()
        self._child.wait()

    def _exactly(self, size: int) -> bytes:
        data = bytearray(size)
        rest = memoryview(data)
        while rest:
            n = self._from.readinto(rest)  # type: ignore[attr-defined]
            if not n:
                raise EOFError
            rest = rest[n:]
        return bytes(data)

    def _gone(self, op: str, number: int) -> Gone:
        self._writer.join(5)
        gone = Gone(self._obituary(op))
        gone.unsent = not self._writer.is_alive() and number not in self._sent
        return gone

    def _obituary(self, op: str) -> str:
        try:
            status: object = self._child.wait(5)
        except subprocess.TimeoutExpired:
            status = "none"
        if isinstance(status, int) and status < 0:
            with contextlib.suppress(ValueError):
                status = signal.Signals(-status).name
        why = f", after a reply that can't be read ({type(self._broken).__name__}: {self._broken})" if self._broken is not None else ""
        return f"krigo ended while it was asked to {op} (exit status {status}{why})" + (self._last_words() or "; was there too little memory?")

    def _last_words(self) -> str:
        """Returns the end of what the program wrote to standard error, or an empty text."""
        with contextlib.suppress(ValueError):  # the file is closed
            self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, self._errors.tell() - 2000))
            said = self._errors.read().decode(errors="replace").strip()
            return ": " + in_python(said) if said else ""
        return ""

    def end(self) -> None:
        """Ends the program, and waits for its end."""
        self.alive = False
        self._requests.put(None)
        try:
            self._child.wait(2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._writer.join(1)
        self._reader.join(1)
        self._errors.close()

    def abandon(self) -> None:
        """Closes this child process's copies of the parent's pipes, so that the pipes end when the parent ends."""
        self.alive = False
        for end in (self._to, self._from):
            with contextlib.suppress(OSError):
                end.close()
        self._errors.close()
        self._child.returncode = 0  # only the parent may wait for the program


def _frame(header: dict[str, Any], buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    header["buffers"] = [memoryview(b).nbytes for b in buffers]
    text = json.dumps(_plain(header, "the request"), allow_nan=False).encode()
    return [struct.pack("<I", len(text)) + text, *buffers]


def _plain(value: Any, name: str) -> Any:
    """Returns a value as types that JSON knows, and refuses other values.

    A frame that isn't JSON would end the program, and with it the requests of other threads.
    """
    if isinstance(value, dict):
        return {str(key): _plain(of, str(key)) for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(of, name) for of in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{name} {value}: want a finite number")
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise UsageError(f"{name} {value!r}: want numbers and text")


def _named() -> str:
    return f"Check that {_program.VARIABLE} names the program krigo." if os.environ.get(_program.VARIABLE) else "The program may be damaged: install krigo again."


_current: Process | None = None
_starting = threading.Lock()
_ending = False  # Python is ending, and its threads no longer run: nothing would answer


def current() -> Process:
    """Returns the program, and starts a program if none runs."""
    global _current
    if _ending:
        raise KrigoError("Python is ending, and krigo has ended: nothing can be asked any more")
    process = _current
    if process is not None and process.alive:
        return process
    with _starting:
        if _current is None or not _current.alive:
            _current = Process()
        process = _current
    _program.compare(process.version)
    return process


def ask(op: str, buffers: Sequence[Buffer] = (), model: Model | None = None, again: bool = True, progress: Callable[[Event], None] | None = None, **header: Any) -> Reply:
    """Sends a request to the program and returns the reply.

    If the program has ended before the request, ask starts a new program. If the program ends during the request, ask
    sends the request once more, if again is set or if the program hadn't received all of the request.
    """
    for last in (False, True):
        process = current()
        try:
            if not again:
                process.call("hello")  # finds out whether the program has died, because ask sends the request only once
            if model is not None:
                header["model"] = model.number(process)
        except Gone:
            if last:
                raise
            continue
        try:
            return process.call(op, buffers, progress, **header)
        except Gone as e:
            if last or not (again or e.unsent):
                raise
    raise AssertionError


class Model:
    """A model file in memory, with what krigo says about it. A program that loads the model gives it a number."""

    def __init__(self, file: bytes, about: dict[str, Any] | None = None) -> None:
        self.file = file
        self._numbers: dict[int, tuple[weakref.ref[Process], int]] = {}
        self.about: dict[str, Any] = about if about is not None else {}
        if about is None:
            reply = ask("load", [file])
            self.about = reply.result
            self.known(reply.process, reply.result["model"])

    def number(self, process: Process) -> int:
        """Returns the model's number in a program, and loads the file first if the program doesn't have the model."""
        known = self._numbers.get(id(process))
        if known is not None and known[0]() is process:
            return known[1]
        about = process.call("load", [self.file]).result
        self.about = self.about or about
        return self.known(process, about["model"])

    def known(self, process: Process, number: int) -> int:
        """Records the model's number in a program. When Python drops the model, the program forgets it too."""
        entry = (weakref.ref(process), number)
        self._numbers[id(process)] = entry
        weakref.finalize(self, _forget, *entry)
        return number

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self.file, "about": self.about}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["file"], state["about"])  # type: ignore[misc]

    def __deepcopy__(self, memo: object) -> Model:
        return self  # a model never changes


def _forget(process: weakref.ref[Process], number: int) -> None:
    at = process()
    if at is not None:
        at.forget(number)


@atexit.register
def _end() -> None:
    global _current, _ending
    _ending = True
    process, _current = _current, None
    if process is not None and process.owner == os.getpid() and process.alive:
        process.end()


def _forked() -> None:
    """Gives up the parent's program in a forked child, and makes a new lock, because a parent's thread may hold the lock."""
    global _current, _starting
    process, _current, _starting = _current, None, threading.Lock()
    if process is not None:
        process.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
