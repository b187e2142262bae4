#!/usr/bin/env python3
"""Times covariance blocks, their pull-back and products beside numpy and torch.

See bench/README.md. Contenders take turns, each in a process of its own. A contender
may keep only its buffers between repetitions.
"""
import argparse, datetime, json, os, platform, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
TASKS = ("fill", "pull", "times")


def worker(args):
    """Answers tasks on standard input with numpy or torch."""
    import numpy as np

    n, m, d, t = args.rows, args.centres, args.dim, args.columns
    raw = np.fromfile(args.data)
    x, raw = raw[: n * d].reshape(n, d), raw[n * d :]
    v, raw = raw[: n * t].reshape(n, t), raw[n * t :]
    bar = raw[:n, None] * raw[None, n : n + m]
    theta = 0.1 * np.arange(d + 1)
    z = x[:m]
    if args.worker.startswith("torch"):
        import torch

        torch.set_num_threads(args.threads)
        x, v, bar, theta, z = (torch.from_numpy(np.ascontiguousarray(a)) for a in (x, v, bar, theta, z))
        empty = lambda *s: torch.empty(*s, dtype=torch.float64)
        exp, matmul = (lambda a: torch.exp(a, out=a)), (lambda a, b, out: torch.matmul(a, b, out=out))
        multiply, root = torch.mul, torch.exp
    else:
        empty = lambda *s: np.empty(s)
        exp, matmul = (lambda a: np.exp(a, out=a)), np.matmul
        multiply, root = np.multiply, np.exp

    def augmented(a, c):
        """Returns rows whose products with the other matrix's columns are ln k, so that one product gives all exponents."""
        s = (a - c) * root(-0.5 * theta[:d])
        left, right = empty(len(a), d + 2), empty(len(a), d + 2)
        left[:, :d] = right[:, :d] = s
        left[:, d] = right[:, d + 1] = -0.5 * (s * s).sum(1) + 0.5 * theta[d]
        left[:, d + 1] = right[:, d] = 1
        return s, left, right

    block, out = empty(n, m), empty(n, t)

    def fill():
        c = z.mean(0)
        left, right = augmented(x, c)[1], augmented(z, c)[2]
        matmul(left, right.T, out=block)
        exp(block)
        return block

    def pull():
        """Computes W = bar ∘ K, and Σ W (a−b)² from the products of W with the inputs."""
        fill()
        c = z.mean(0)
        a, b = augmented(x, c)[0], augmented(z, c)[0]
        multiply(block, bar, out=block)
        rows, cols = block.sum(1), block.sum(0)
        squares = rows @ (a * a) + cols @ (b * b) - 2 * (a * (block @ b)).sum(0)
        g = empty(d + 1)
        g[:d], g[d] = 0.5 * squares, rows.sum()
        return g

    def tiles(height, width, symmetric):
        buffer, part, turned = empty(height * width), empty(height, t), empty(width, t)

        def times():
            _, left, right = augmented(x, x.mean(0))
            out[:] = 0
            for i in range(0, n, height):
                i1 = min(i + height, n)
                for j in range(0, i1 if symmetric else n, width):
                    j1 = min(j + width, n)
                    k = buffer[: (i1 - i) * (j1 - j)].reshape(i1 - i, j1 - j)
                    matmul(left[i:i1], right[j:j1].T, out=k)
                    exp(k)
                    p = part[: i1 - i]
                    matmul(k, v[j:j1], out=p)
                    out[i:i1] += p
                    if symmetric and j != i:
                        q = turned[: j1 - j]
                        matmul(k.T, v[i:i1], out=q)
                        out[j:j1] += q
            return out

        return times

    symmetric = args.worker.endswith("symmetric")
    shapes = [(s, s) for s in (250, 500, 1000, 2000)] if symmetric else [(250, n), (500, 500), (1000, 1000), (2000, 500)]
    best = None
    for line in sys.stdin:
        task = line.strip()
        if task == "times" and best is None:  # choose the best of four blockings, each run twice
            took = []
            for shape in shapes:
                f = tiles(*shape, symmetric)
                for _ in range(2):
                    start = time.perf_counter()
                    f()
                    s = time.perf_counter() - start
                took.append((s, shape))
            best = tiles(*min(took)[1], symmetric)
        f = {"fill": fill, "pull": pull, "times": best}[task]
        start = time.perf_counter()
        r = f()
        seconds = time.perf_counter() - start
        if task == "pull":
            check = r.tolist()
        else:
            check = [float(abs(r).sum()), float(r[r.shape[0] // 2, r.shape[1] // 3]), float(r[-1, -1])]
        print(json.dumps({"seconds": seconds, "check": check}), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--tasks", default=",".join(TASKS))
    p.add_argument("--contenders", default="krigo,numpy,torch,numpy symmetric,torch symmetric", help="contenders beside krigo, separated by commas")
    p.add_argument("--rows", type=int, default=20000)
    p.add_argument("--centres", type=int, default=500)
    p.add_argument("--dim", type=int, default=8)
    p.add_argument("--columns", type=int, default=16)
    p.add_argument("--worker", help=argparse.SUPPRESS)
    p.add_argument("--data", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.worker:
        args.threads = int(args.threads)
        return worker(args)

    import numpy as np

    rng = np.random.default_rng(1)
    n, m, d, t = args.rows, args.centres, args.dim, args.columns
    with tempfile.TemporaryDirectory() as scratch:
        data, program = os.path.join(scratch, "data"), os.path.join(scratch, "covariance")
        subprocess.run(["go", "build", "-o", program, "./covariance"], cwd=HERE, check=True)
        np.concatenate([rng.standard_normal(n * d + n * t + n + m)]).tofile(data)
        sizes = [f"--rows={n}", f"--centres={m}", f"--dim={d}", f"--columns={t}", f"--data={data}"]
        rows = []
        for threads in args.threads.split(","):
            env = dict(os.environ, GOMAXPROCS=threads, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads, MKL_NUM_THREADS=threads)
            for task in args.tasks.split(","):
                names = ["krigo", "numpy", "torch"] + (["numpy symmetric", "torch symmetric"] if task == "times" else [])
                names = [c for c in names if c == "krigo" or c in args.contenders.split(",")]
                commands = {c: [sys.executable, __file__, "--worker", c, "--threads", threads, *sizes] for c in names[1:]}
                commands["krigo"] = [program, *sizes]
                running = {c: subprocess.Popen(commands[c], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for c in names}

                def once(c):
                    running[c].stdin.write(task + "\n")
                    running[c].stdin.flush()
                    return json.loads(running[c].stdout.readline())

                warm = {c: once(c)["check"] for c in names}
                for c in names[1:]:
                    for a, b in zip(warm["krigo"], warm[c]):
                        if not abs(a - b) <= 1e-8 * max(abs(b), 1):
                            sys.exit(f"{task}: krigo computes {a}, but {c} computes {b}")
                took = {c: [] for c in names}
                for r in range(args.rounds):
                    for c in names:
                        took[c].append(once(c)["seconds"])
                    print(f"{task}, {threads} threads: round {r + 1}", file=sys.stderr)
                for c in names:
                    running[c].stdin.close()
                    running[c].wait()
                own = statistics.median(took["krigo"])
                for c in names:
                    ms = sorted(1e3 * s for s in took[c])
                    mid = statistics.median(ms)
                    rows.append(f"| {task} | {threads} | {c} | {mid:.1f} | {ms[0]:.1f}–{ms[-1]:.1f} | {mid / own / 1e3:.2f} |")
        print("| task | threads | contender | median ms | min–max ms | ratio to krigo |\n| :-- | --: | :-- | --: | --: | --: |")
        print("\n".join(rows))
        print(f"\n{n} × {m} points of {d} inputs, {t} columns; {cpu()}; {datetime.date.today()}")


def cpu():
    try:
        with open("/proc/cpuinfo") as f:
            model = next(l.split(":")[1].strip() for l in f if l.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


if __name__ == "__main__":
    main()
