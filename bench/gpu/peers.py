"""Networks of `utvi bench` in PyTorch and JAX: the same mathematics, timed the same way.

Moments go through dense layers (m W + b, m² S + v (W² + S) + s) and through leaky ReLU by
three sigma points; the loss is a Normal likelihood plus the KL to N(0, 1); the optimiser is
AdamW. Products are float32: neither package may round to TF32.

A figure is the median over windows of the time of many runs, one queued behind the other,
divided by their number. On a card PyTorch is timed by events of the stream, as utvi is;
JAX, which has none, by the clock on the wall around runs that are waited for once.

Compiling takes much longer than measuring. With --wait the program compiles, says that it is
ready, and measures when it reads a line: several can compile side by side, and measure one
after the other.
"""

import argparse
import json
import math
import statistics
import sys
import time

SLOPE, KAPPA, FLOOR, RATE, DECAY = 0.01, 2.0, 1e-6, 1e-3, 0.01


class Unmeasured(Exception):
    """Says why something cannot be measured on this machine."""


def moments(np, m, layers, softplus, leaky):
    """Means and variances of the outputs; np is torch or jax.numpy."""
    c, w0, w1 = math.sqrt(KAPPA + 1), KAPPA / (KAPPA + 1), 0.5 / (KAPPA + 1)
    v = None
    for k, (w, rho, b, brho) in enumerate(layers):
        s, bs = softplus(rho) ** 2, softplus(brho) ** 2
        out = (m * m) @ s + bs
        if v is not None:
            out = out + v @ (w * w + s)
        m, v = m @ w + b, out
        if k == len(layers) - 1:
            return m, v
        d = c * np.sqrt(v)
        f0, fm, fp = leaky(m), leaky(m - d), leaky(m + d)
        mean = w0 * f0 + w1 * (fm + fp)
        m, v = mean, w0 * (f0 - mean) ** 2 + w1 * ((fm - mean) ** 2 + (fp - mean) ** 2)


def loss(np, m, v, y, layers, softplus, batch):
    """Mean over rows of −ln p, plus the KL divided by the rows."""
    v = np.maximum(v, np.full_like(v, FLOOR))
    nll = (0.5 * np.log(2 * math.pi * v) + 0.5 * (y - m) ** 2 / v).sum(1).mean()
    kl = 0.0
    for w, rho, b, brho in layers:
        for mu, r in ((w, rho), (b, brho)):
            s = softplus(r)
            kl = kl + (0.5 * (s * s + mu * mu - 1) - np.log(s)).sum()
    return nll + kl / batch


class Work:
    """Compiled runs of a network: forward, or None, and per steps at once."""

    def __init__(self, clock, forward, step, per=1, record=lambda run: run):
        self.clock, self.forward, self.step, self.per, self.record = clock, forward, step, per, record
        for run in (forward, step):
            if run:
                clock(run)

    def measure(self, windows, runs):
        """Median microseconds, forward and a step. Graphs are recorded only now: what the
        compiler of another one frees may be in use by an earlier one."""
        forward = self.forward and median(self.record(self.forward), windows, runs, self.clock)
        return forward, median(self.record(self.step), windows, runs // self.per, self.clock) / self.per


def median(run, windows, runs, clock):
    """The median time of one run in microseconds; clock(f) is the time of f in seconds."""
    run()
    def many():
        for _ in range(runs):
            run()
    return 1e6 * statistics.median(clock(many) for _ in range(windows)) / runs


class Torch:
    """PyTorch: eager; its kernels in a CUDA graph; compiled, and in a CUDA graph."""

    columns = ["PyTorch eager", "PyTorch eager in a CUDA graph", "PyTorch compiled in a CUDA graph"]

    def __init__(self, device):
        try:
            import torch
        except ImportError as e:
            raise Unmeasured(f"PyTorch cannot be imported ({e})")
        self.torch, self.device = torch, device
        self.card = device != "cpu"
        if self.card and not torch.cuda.is_available():
            raise Unmeasured("PyTorch sees no card")
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.manual_seed(1)

    def about(self):
        card = ", " + self.torch.cuda.get_device_name() if self.card else ""
        return f"PyTorch {self.torch.__version__}{card}"

    def clock(self, f):
        torch = self.torch
        if not self.card:
            begin = time.perf_counter()
            f()
            return time.perf_counter() - begin
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        f()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3

    def work(self, widths, batch):
        """The forward pass, the gradient and the update of a new network."""
        torch, F = self.torch, self.torch.nn.functional
        layers = []
        for i, o in zip(widths, widths[1:]):
            bound = 1 / math.sqrt(i)
            spread = lambda *n: torch.empty(*n, device=self.device).uniform_(-8, -2).requires_grad_()
            mean = lambda *n: torch.empty(*n, device=self.device).uniform_(-bound, bound).requires_grad_()
            layers.append((mean(i, o), spread(i, o), mean(o), spread(o)))
        x, y = torch.randn(batch, widths[0], device=self.device), torch.randn(batch, widths[-1], device=self.device)
        leaky = lambda t: F.leaky_relu(t, SLOPE)
        forward = lambda: moments(torch, x, layers, F.softplus, leaky)
        score = lambda: loss(torch, *forward(), y, layers, F.softplus, batch)
        parameters = [p for layer in layers for p in layer]
        more = {"capturable": True, "fused": True} if self.card else {}
        update = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY, **more)
        return forward, score, update

    def graph(self, run):
        """A CUDA graph of run, after a warm-up on a stream of its own, as PyTorch asks for."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        return graph.replay

    def prepare(self, column, widths, batch, runs):
        torch = self.torch
        if "graph" in column and not self.card:
            raise Unmeasured("CUDA graphs need a card")
        forward, score, update = self.work(widths, batch)
        if "compiled" in column:
            if not hasattr(torch, "compile"):
                raise Unmeasured(f"PyTorch {torch.__version__} has no torch.compile")
            forward, score = torch.compile(forward, fullgraph=True), torch.compile(score, fullgraph=True)

        def predict():
            with torch.no_grad():
                forward()

        def step():
            update.zero_grad(set_to_none="graph" not in column)
            score().backward()
            update.step()

        return Work(self.clock, predict, step, **({"record": self.graph} if "graph" in column else {}))


class Jax:
    """JAX: jit, one call a step; jit of a scan over steps."""

    columns = ["JAX jit", "JAX jit, steps in a scan"]

    def __init__(self, device):
        try:
            import jax
        except ImportError as e:
            raise Unmeasured(f"JAX cannot be imported ({e})")
        self.jax = jax
        jax.config.update("jax_default_matmul_precision", "highest")
        if device == "cpu":
            jax.config.update("jax_platforms", "cpu")
        elif jax.default_backend() != "gpu":
            raise Unmeasured("JAX sees no card")

    def about(self):
        return f"JAX {self.jax.__version__}"

    def prepare(self, column, widths, batch, runs):
        jax, np = self.jax, self.jax.numpy
        keys = iter(jax.random.split(jax.random.PRNGKey(1), 4 * len(widths) + 2))
        layers = []
        for i, o in zip(widths, widths[1:]):
            bound = 1 / math.sqrt(i)
            draw = lambda lo, hi, *n: jax.random.uniform(next(keys), n, np.float32, lo, hi)
            layers.append((draw(-bound, bound, i, o), draw(-8, -2, i, o), draw(-bound, bound, o), draw(-8, -2, o)))
        x, y = jax.random.normal(next(keys), (batch, widths[0])), jax.random.normal(next(keys), (batch, widths[-1]))
        leaky = lambda t: np.where(t > 0, t, SLOPE * t)
        forward = lambda layers, x: moments(np, x, layers, jax.nn.softplus, leaky)
        score = lambda layers, x, y: loss(np, *forward(layers, x), y, layers, jax.nn.softplus, batch)

        def step(state, x, y):  # AdamW
            layers, first, second, n = state
            n = n + 1
            g = jax.grad(score)(layers, x, y)
            first = jax.tree_util.tree_map(lambda a, b: 0.9 * a + 0.1 * b, first, g)
            second = jax.tree_util.tree_map(lambda a, b: 0.999 * a + 0.001 * b * b, second, g)
            change = lambda p, a, b: (1 - RATE * DECAY) * p - RATE * (a / (1 - 0.9**n)) / (np.sqrt(b / (1 - 0.999**n)) + 1e-8)
            return (jax.tree_util.tree_map(change, layers, first, second), first, second, n)

        def clock(f):
            begin = time.perf_counter()
            f()
            jax.block_until_ready(last[0])
            return time.perf_counter() - begin

        last = [None]
        predict = jax.jit(forward)
        zeros = lambda: jax.tree_util.tree_map(np.zeros_like, layers)
        state = [(jax.tree_util.tree_map(np.copy, layers), zeros(), zeros(), np.zeros((), np.float32))]  # the steps overwrite it

        def run_forward():
            last[0] = predict(layers, x)

        def run(train):
            def once():
                state[0] = last[0] = train(state[0], x, y)
            return once

        if "scan" not in column:
            alone = jax.jit(step, donate_argnums=0)
            return Work(clock, run_forward, run(alone))
        many = lambda state, x, y: jax.lax.scan(lambda s, _: (step(s, x, y), None), state, None, length=runs)[0]
        scan = jax.jit(many, donate_argnums=0)
        return Work(clock, None, run(scan), runs)


PACKAGES = {"torch": Torch, "jax": Jax}


def measure(package, nets, batch, windows, runs, device, wait):
    """Yields {column, net, batch, forward_us, step_us}, or {column, why} for what is not measured."""
    kind = PACKAGES[package]
    works = []
    try:
        peer = kind(device)
        yield {"about": peer.about()}
        columns = kind.columns
    except Unmeasured as e:
        for column in kind.columns:
            yield {"column": column, "why": str(e)}
        columns = []
    for column in columns:
        for net in nets:
            widths = [int(w) for w in net.split("-")]
            try:
                works.append((column, net, peer.prepare(column, widths, batch, runs)))
            except Unmeasured as e:
                yield {"column": column, "why": str(e)}
                break
            except Exception as e:  # a package that fails at one network is reported, not fatal
                yield {"column": column, "why": f"{net}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"}
    yield {"ready": package}
    if wait:
        sys.stdin.readline()
    for column, net, work in works:
        forward, step = work.measure(windows, runs)
        yield {"column": column, "net": net, "batch": batch, "forward_us": forward, "step_us": step}


def main():
    p = argparse.ArgumentParser(description="Time the networks of utvi bench in PyTorch or JAX; print a JSON object a line.")
    p.add_argument("package", choices=PACKAGES)
    p.add_argument("--nets", default="1-128-128-1,64-512-512-512-8,784-2048-2048-10")
    p.add_argument("--batch", type=int, default=1024)
    p.add_argument("--windows", type=int, default=21)
    p.add_argument("--runs", type=int, default=50, help="runs in a window")
    p.add_argument("--device", default="cuda", help="cuda, or cpu to try the program")
    p.add_argument("--wait", action="store_true", help="measure when a line comes from the standard input")
    a = p.parse_args()
    for line in measure(a.package, a.nets.split(","), a.batch, a.windows, a.runs, a.device, a.wait):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
