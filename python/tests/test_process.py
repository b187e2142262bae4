"""The program beside Python: threads, child processes, interruptions, and the program's end."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.exceptions import NotFittedError

from krigo import DataError, KrigoError, KrigoRegressor, NoCertificate, NotFitted, UsageError, _process, _program, certify_predictions

POSIX = pytest.mark.skipif(os.name == "nt", reason="only on POSIX systems")


@pytest.fixture(scope="module")
def model(waves):
    return KrigoRegressor(kernel="se").fit(*waves)


def wait_for(what, seconds=20):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Returns whether a process has ended, also if its parent hasn't waited for it."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except OSError:
        return True
    return False


def test_threads(waves, model):
    X, y = waves
    want = model.predict(X)

    def work(i):
        if i % 4 == 3:
            return KrigoRegressor(kernel="se").fit(X, y).predict(X)
        return model.predict(X)

    with ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(got, want) for got in pool.map(work, range(60)))


def test_one_program_for_threads_that_start_at_once():
    code = """
import threading
from krigo import _process
found = []
begin = threading.Barrier(8)
def ask():
    begin.wait()
    found.append(_process.current().pid)
threads = [threading.Thread(target=ask) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(found), len(set(found)))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "8 1\n"


def other(m, X, results):
    results.put((_process.current().pid, m.predict(X).tolist(), KrigoRegressor(kernel="se").fit(X, X[:, 0]).certificate_["rows"]))


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children(waves, model, method):
    """A child process starts its own program, and the parent keeps the parent's program."""
    X, _ = waves
    want, mine = model.predict(X).tolist(), _process.current()
    context = multiprocessing.get_context(method)
    results = context.Queue()
    children = [context.Process(target=other, args=(model, X, results)) for _ in range(2)]
    for child in children:
        child.start()
    found = [results.get(timeout=60) for _ in children]
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert len({mine.pid, *(pid for pid, _, _ in found)}) == 3
    assert all(got == want and rows > 0 for _, got, rows in found)
    for pid, _, _ in found:
        wait_for(lambda pid=pid: gone(pid))
    assert _process.current() is mine and model.predict(X).tolist() == want


@POSIX
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_threads_ask(waves, model):
    X, _ = waves
    want = model.predict(X)
    over = threading.Event()

    def busy():
        while not over.is_set():
            model.predict(X)

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        for _ in range(5):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if np.array_equal(model.predict(X), want) else 1)
            assert os.waitpid(pid, 0)[1] == 0
    finally:
        over.set()
        for t in threads:
            t.join()
    assert np.array_equal(model.predict(X), want)


@pytest.mark.parametrize("prefer", ["processes", "threads"])
def test_joblib(waves, model, prefer):
    X, _ = waves
    want = model.predict(X)
    found = Parallel(n_jobs=2, prefer=prefer)(delayed(model.predict)(X) for _ in range(4))
    assert all(np.array_equal(got, want) for got in found)


@POSIX
def test_interrupt(waves, model):
    """^C ends only the fit. The program keeps running and keeps its models."""
    X, y = waves
    before = _process.current()
    assert os.getpgid(before.pid) != os.getpgid(0)  # ^C in a terminal doesn't reach the program
    asked = []

    def begun(event):
        if not asked:
            asked.append(event)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    # A process that was started in the background may ignore SIGINT.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            KrigoRegressor(objective="kl-pac", restarts=1000, progress=begun).fit(X, y)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert asked and _process.current() is before
    assert model.predict(X).shape == (150,)
    # The program has stopped working on the fit.
    wait_for(lambda: idle(before.pid))


def idle(pid: int) -> bool:
    def ticks():
        with open(f"/proc/{pid}/stat") as f:
            return sum(map(int, f.read().rpartition(")")[2].split()[11:13]))

    if not os.path.exists("/proc/self/stat"):
        return True
    begin = ticks()
    time.sleep(0.3)
    return ticks() - begin < 10


@POSIX
def test_a_program_that_dies(waves, model):
    X, y = waves
    want = model.predict(X)
    first = _process.current()
    os.kill(first.pid, signal.SIGKILL)
    assert np.array_equal(model.predict(X), want)  # asked at once, when maybe only the request notices the death
    assert _process.current().pid != first.pid

    def kill(event):
        os.kill(_process.current().pid, signal.SIGKILL)

    with pytest.raises(KrigoError, match=r"ended while it was asked to fit \(exit status SIGKILL\)"):
        KrigoRegressor(objective="kl-pac", restarts=1000, progress=kill).fit(X, y)
    assert np.array_equal(model.predict(X), want)
    assert KrigoRegressor(kernel="se").fit(X, y).certificate_ == model.certificate_


@POSIX
def test_a_program_that_died_unseen(waves, model, tmp_path):
    """If the program has died, the next call starts a new program, whether or not Python saw the end."""
    X, y = waves
    large = np.zeros((20_000, 2))  # more than a pipe holds
    model.save(tmp_path / "m.krigo")
    asks = {
        "fit": lambda: KrigoRegressor(kernel="se").fit(X, y),
        "watch": lambda: model.watch(X, y, tmp_path / "l.ledger"),
        "load": lambda: KrigoRegressor.load(tmp_path / "m.krigo"),
        "predict": lambda: model.predict(large),
        "certify_predictions": lambda: certify_predictions(y, y, 1),
    }
    for ask in asks.values():
        for wait in (0, 0.2):
            os.kill(_process.current().pid, signal.SIGKILL)
            time.sleep(wait)
            ask()
    assert model.watch(X, y, tmp_path / "l.ledger").details["rows"] == 3 * len(y)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only on Linux")
def test_what_is_asked_again(waves, model, monkeypatch, tmp_path):
    """A watch is sent again only if the program hadn't received all of the request.

    Otherwise the program may have written to the ledger already.
    """
    X, y = waves
    true = _process.Process.call
    asked = []

    def dies(self, op, buffers=(), *args, **kwargs):
        if op in ("watch", "fit"):
            asked.append(op)
            if len(asked) == 1:
                os.kill(self.pid, how)
                wait_for(lambda: stopped(self.pid) if how == signal.SIGSTOP else self._child.poll() is not None)
                if how == signal.SIGSTOP:  # the pipe holds the request, and the program hasn't read it
                    threading.Timer(0.5, os.kill, (self.pid, signal.SIGKILL)).start()
        return true(self, op, buffers, *args, **kwargs)

    monkeypatch.setattr(_process.Process, "call", dies)
    how = signal.SIGSTOP
    with pytest.raises(KrigoError, match=r"ended while it was asked to watch \(exit status SIGKILL\)"):
        model.watch(X, y, tmp_path / "l.ledger")
    assert asked == ["watch"] and not (tmp_path / "l.ledger").exists()
    for how, rows in ((signal.SIGKILL, X), (signal.SIGSTOP, np.tile(X, (200, 1)))):  # the tiled rows don't fit into a pipe
        asked.clear()
        found = model.watch(rows, np.resize(y, len(rows)), tmp_path / f"{len(rows)}.ledger")
        assert asked == ["watch", "watch"] and found.details["rows"] == len(rows)


def stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("last", ["", "import os; os.kill(os.getpid(), 9)", "raise SystemExit(3)", "1/0"])
def test_end(last):
    """The program ends with Python, however Python ends."""
    code = f"from krigo import _process\nprint(_process.current().pid, flush=True)\n{last}"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    wait_for(lambda: gone(int(done.stdout)))


def test_end_during_a_fit():
    code = """
import threading, numpy as np
from krigo import KrigoRegressor, _process
begun = threading.Event()
X = np.random.default_rng(0).normal(size=(1500, 3))
fit = lambda: KrigoRegressor(objective="kl-pac", restarts=1000, progress=lambda e: begun.set()).fit(X, X[:, 0])
threading.Thread(target=fit, daemon=True).start()
begun.wait()
print(_process.current().pid)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    wait_for(lambda: gone(int(done.stdout)))


def test_models_are_forgotten(waves):
    """The program forgets a model when Python does."""
    X, y = waves
    m = KrigoRegressor(kernel="se").fit(X, y)
    process = _process.current()
    number = m.model_.number(process)
    args = {"model": number, "table": {"names": ["x1", "x2"], "text": [False, False], "rows": 1}}
    row = [np.zeros(1).tobytes()] * 2
    assert process.call("predict", row, **args).result["rows"] == 1
    del m
    gc.collect()
    for _ in range(1000):  # the program answers requests side by side, so a prediction may overtake the word to forget
        try:
            process.call("predict", row, **args)
        except KrigoError as e:
            assert "no model" in str(e)
            return
    pytest.fail("the program still has the model")


def test_no_program():
    code = "from krigo import KrigoRegressor; KrigoRegressor().fit([[1.0]] * 30, range(30))"
    for named in ("/nowhere/krigo", sys.executable):
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60, env={**os.environ, "KRIGO_EXECUTABLE": named})
        assert done.returncode == 1 and "KrigoError: krigo" in done.stderr.splitlines()[-1] or "_process.Gone" in done.stderr, done.stderr


@POSIX
@pytest.mark.parametrize(("script", "said"), [
    ("exec sleep 60", "didn't say within 1 seconds that it is krigo"),
    ("exec cat", "krigo"),
    ("echo usage: something; exec sleep 60", "didn't say within 1 seconds"),
    ("sleep 5 & exit 3", "ended without saying that it is krigo"),
    ("echo broken >&2; exit 3", "exit status 3.*broken"),
    ("printf '\\002\\000\\000\\000[]'; exec sleep 60", "can't be read"),
], ids=str)  # fmt: skip
def test_executables_that_are_something_else(tmp_path, script, said):
    """An executable that isn't krigo is named in the error and ended."""
    other = tmp_path / "other"
    other.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\n{script}\n")
    other.chmod(0o755)
    code = "from krigo import _process; _process._PATIENCE = 1; _process.current()"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60, env={**os.environ, "KRIGO_EXECUTABLE": str(other)})
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and re.search(said, last) and str(other) in last and "KRIGO_EXECUTABLE" in last, done.stderr
    wait_for(lambda: gone(int((tmp_path / "pid").read_text())))


@POSIX
def test_another_version(tmp_path):
    """If the package has a program of its own, one warning says that the named program has another version."""
    code = "import sys; from krigo import _process, _program; _program._own = lambda: __import__('pathlib').Path(sys.argv[1]); _process.current().end(); _process.current(); print(_process.current().version)"
    for version, warned in (("v0.0.1-other", True), (None, False)):
        own = tmp_path / f"own{warned}"
        said = version or _process.current().version
        own.write_text(f"#!/bin/sh\necho krigo version '{said}'\n")
        own.chmod(0o755)
        env = {**os.environ, "KRIGO_EXECUTABLE": _program.path()}
        done = subprocess.run([sys.executable, "-c", code, str(own)], check=True, capture_output=True, text=True, timeout=60, env=env)
        assert done.stdout.strip() == _process.current().version
        assert done.stderr.count("this package is made for v0.0.1-other") == warned and done.stderr.count("Warning") == warned, done.stderr


def test_nothing_is_left_open(tmp_path):
    """Python warns of no unclosed file of the package, however the program ended."""
    code = """
import gc, os, signal, sys, numpy as np
from krigo import KrigoRegressor, _process
X = np.arange(60.0)[:, None]
m = KrigoRegressor(kernel="se").fit(X, X[:, 0])
if len(sys.argv) > 1:
    os.kill(_process.current().pid, 9)
m.predict(X)
gc.collect()
"""
    for args in ([], ["kill"] if os.name != "nt" else []):
        done = subprocess.run([sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", code, *args], check=False, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_errors_travel(waves):
    """Pickles and copies keep errors, also on the way from a pool's child processes."""
    bare = KrigoRegressor()
    with pytest.raises(NotFitted) as e:
        bare.predict(waves[0])
    for error in (KrigoError("a"), UsageError("a"), DataError("a", 3, "c"), DataError("a"), NoCertificate("a"), NotFitted("a"), _process.Gone("a"), e.value):
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(again).__name__ == type(error).__name__ and str(again) == str(error)
            assert type(again).__mro__[1:] == type(error).__mro__[1:] and getattr(again, "row", None) == getattr(error, "row", None)
    for method in multiprocessing.get_all_start_methods():
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool, pytest.raises(NotFittedError, match="not fitted yet"):
            pool.submit(bare.predict, waves[0]).result(60)


def test_numpy_alone():
    """The package works with numpy alone, without scikit-learn, pandas and polars."""
    code = """
import sys
for name in ("sklearn", "pandas", "polars"):
    sys.modules[name] = None
import copy, pickle, numpy as np
from krigo import KrigoRegressor, NotFitted, certify_predictions
X = np.random.default_rng(0).normal(size=(120, 2)); y = X[:, 0]
m = KrigoRegressor(kernel="se").set_params(epsilon=1)
assert repr(m) == "KrigoRegressor(kernel='se', epsilon=1)" and m.get_params()["epsilon"] == 1
try:
    m.predict(X)
except NotFitted:
    print(m.fit(X, y[:, None]).score(X, y) > 0.9, pickle.loads(pickle.dumps(m)).certify(X, y).bound == m.certificate_["mean_bound"])
try:
    m.set_params(sigma=1)
except ValueError as e:
    print("sigma" in str(e), m._repr_html_()[:4], certify_predictions(y, m.predict(X), 1).certificate["rows"])
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True True\nTrue <div 120\n", "")


def test_memory():
    """krigo refuses a request over the memory limit. The program and the requests of other threads go on."""
    code = """
import threading, numpy as np
from krigo import KrigoError, KrigoRegressor, _process
began, over = threading.Event(), threading.Event()
def hold(event):
    began.set()
    over.wait(60)
found = []
def fit():
    found.append(KrigoRegressor(kernel="se", progress=hold).fit(np.arange(120.0)[:, None], np.arange(120.0)))
other = threading.Thread(target=fit)
other.start()
began.wait(60)
pid = _process.current().pid
m = KrigoRegressor(kernel="se").fit(np.arange(120.0)[:, None], np.arange(120.0))
for ask in (lambda: KrigoRegressor().fit(np.zeros((200_000, 8)), np.zeros(200_000)), lambda: m.predict(np.zeros((5_000_000, 1)))):
    try:
        ask()
    except KrigoError as e:
        print("--memory" in str(e), "KRIGO_MEMORY=" in str(e))
over.set()
other.join()
print(found[0].certificate_ is not None, _process.current().pid == pid)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env={**os.environ, "KRIGO_MEMORY": "30MB"}, timeout=120)
    assert (done.stdout, done.stderr) == ("True True\nTrue True\nTrue True\n", "")


def test_end_of_python(tmp_path, waves, model):
    """A prediction in a destructor, when Python ends, raises an error. It waited for threads that no longer run."""
    file = tmp_path / "waves.krigo"
    model.save(file)
    script = tmp_path / "late.py"
    script.write_text(f"""
import krigo

class Late:
    def __init__(self):
        self.error = krigo.KrigoError
        self.model = krigo.KrigoRegressor.load({str(file)!r})
        self.model.predict([[0.5, 0.5]])
    def __del__(self):
        try:
            self.model.predict([[0.5, 0.5]])
        except self.error as e:
            print("refused:", e)

late = Late()
""")
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "refused: Python is ending" in ended.stdout
