"""The program beside Python: threads, children, interruptions, and its end."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed

from krigo import KrigoError, KrigoRegressor, _process

POSIX = pytest.mark.skipif(os.name == "nt", reason="of POSIX")


@pytest.fixture(scope="module")
def model(waves):
    return KrigoRegressor(kernel="se").fit(*waves)


def wait_for(what, seconds=20):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether a process has ended, be it waited for or not."""
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
    """A child has a program of its own, and the parent keeps its."""
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
    """^C ends the fit alone: the program goes on, and knows its models."""
    X, y = waves
    before = _process.current()
    assert os.getpgid(before.pid) != os.getpgid(0)  # a terminal's ^C isn't for it
    asked = []

    def begun(event):
        if not asked:
            asked.append(event)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    # What is started in the background may have been told to ignore it.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            KrigoRegressor(objective="kl-pac", restarts=1000, progress=begun).fit(X, y)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert asked and _process.current() is before
    assert model.predict(X).shape == (150,)
    # Nothing of the fit is left running.
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
    assert np.array_equal(model.predict(X), want)  # as soon as that: it may be seen only by who asks
    assert _process.current().pid != first.pid

    def kill(event):
        os.kill(_process.current().pid, signal.SIGKILL)

    with pytest.raises(KrigoError, match=r"ended while it was asked to fit \(exit status SIGKILL\)"):
        KrigoRegressor(objective="kl-pac", restarts=1000, progress=kill).fit(X, y)
    assert np.array_equal(model.predict(X), want)
    assert KrigoRegressor(kernel="se").fit(X, y).certificate_ == model.certificate_


@pytest.mark.parametrize("last", ["", "import os; os.kill(os.getpid(), 9)", "raise SystemExit(3)", "1/0"])
def test_end(last):
    """However Python ends, the program does."""
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
    """The program keeps no model that Python doesn't."""
    X, y = waves
    m = KrigoRegressor(kernel="se").fit(X, y)
    process = _process.current()
    number = m.model_.number(process)
    args = {"model": number, "table": {"names": ["x1", "x2"], "text": [False, False], "rows": 1}}
    row = [np.zeros(1).tobytes()] * 2
    assert process.call("predict", row, **args).result["rows"] == 1
    del m
    gc.collect()
    with pytest.raises(KrigoError, match="no model"):
        process.call("predict", row, **args)


def test_no_program():
    code = "from krigo import KrigoRegressor; KrigoRegressor().fit([[1.0]] * 30, range(30))"
    for named in ("/nowhere/krigo", sys.executable):
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60, env={**os.environ, "KRIGO_EXECUTABLE": named})
        assert done.returncode == 1 and "KrigoError: krigo" in done.stderr.splitlines()[-1] or "_process.Gone" in done.stderr, done.stderr


def test_numpy_alone():
    """Neither scikit-learn nor DataFrames are needed."""
    code = """
import sys
for name in ("sklearn", "pandas", "polars"):
    sys.modules[name] = None
import copy, pickle, numpy as np
from krigo import KrigoRegressor, NotFitted, certify_predictions
X = np.random.default_rng(0).normal(size=(100, 2)); y = X[:, 0]
m = KrigoRegressor(kernel="se").set_params(epsilon=1)
assert repr(m) == "KrigoRegressor(epsilon=1, kernel='se')" and m.get_params()["epsilon"] == 1
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
    assert (done.stdout, done.stderr) == ("True True\nTrue <div 100\n", "")


def test_memory():
    """What would take more memory than it may is refused, and the program goes on."""
    code = """
import numpy as np
from krigo import KrigoError, KrigoRegressor
try:
    KrigoRegressor().fit(np.zeros((200_000, 8)), np.zeros(200_000))
except KrigoError as e:
    print("--memory" in str(e))
print(KrigoRegressor(kernel="se").fit(np.arange(60.0)[:, None], np.arange(60.0)).certificate_ is not None)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env={**os.environ, "KRIGO_MEMORY": "30MB"})
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")
