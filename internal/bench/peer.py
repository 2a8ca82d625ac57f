"""Times the networks of `utvi bench` in PyTorch eager mode, one thread.

The same work: moments through dense layers (m W, m² S + v (W² + S)), a rule at
every leaky-ReLU, Normal likelihood, KL to N(0, 1), AdamW. Prints a JSON list of
{net, rule, batch, forward_us, step_us}.
"""
import json
import math
import sys
import time

import torch

torch.set_num_threads(1)
SLOPE = 0.01


def leaky(x):
    return torch.nn.functional.leaky_relu(x, SLOPE)


def ut(m, v, kappa=2.0):
    s = torch.sqrt(v)
    c = math.sqrt(kappa + 1)
    f0, fm, fp = leaky(m), leaky(m - c * s), leaky(m + c * s)
    w0, w1 = kappa / (kappa + 1), 0.5 / (kappa + 1)
    mean = w0 * f0 + w1 * (fm + fp)
    var = w0 * (f0 - mean) ** 2 + w1 * ((fm - mean) ** 2 + (fp - mean) ** 2)
    return mean, var


def exact(m, v):
    s = torch.sqrt(v)
    z = m / s
    pdf = torch.exp(-0.5 * z * z) * (1 / math.sqrt(2 * math.pi))
    up = 0.5 * torch.erfc(-z * math.sqrt(0.5))
    lo = 0.5 * torch.erfc(z * math.sqrt(0.5))
    r, q = pdf + z * up, pdf - z * lo
    return s * (r - SLOPE * q), v * (up + SLOPE**2 * lo - (1 - SLOPE) ** 2 * r * q)


def mc(n):
    def rule(m, v):
        x = m + torch.sqrt(v) * torch.randn((n,) + m.shape)
        y = leaky(x)
        return y.mean(0), y.var(0)

    return rule


RULES = {"ut": ut, "exact": exact, "mc3": mc(3), "mc10": mc(10), "mc128": mc(128)}


class Net:
    def __init__(self, widths, rule):
        self.rule = rule
        self.layers = []
        for i, o in zip(widths, widths[1:]):
            bound = 1 / math.sqrt(i)
            self.layers.append([
                torch.empty(i, o).uniform_(-bound, bound), torch.empty(i, o).uniform_(-8, -2),
                torch.empty(o).uniform_(-bound, bound), torch.empty(o).uniform_(-8, -2),
            ])
        for p in self.parameters():
            p.requires_grad_(True)

    def parameters(self):
        return [p for layer in self.layers for p in layer]

    def forward(self, m):
        v = None
        for k, (w, rho, b, brho) in enumerate(self.layers):
            s = torch.nn.functional.softplus(rho) ** 2
            bs = torch.nn.functional.softplus(brho) ** 2
            var = torch.addmm(bs, m * m, s)
            if v is not None:
                var = torch.addmm(var, v, w * w + s)
            m, v = torch.addmm(b, m, w), var
            if k < len(self.layers) - 1:
                m, v = self.rule(m, v)
        return m, v

    def kl(self):
        total = 0.0
        for w, rho, b, brho in self.layers:
            for mu, r in ((w, rho), (b, brho)):
                s = torch.nn.functional.softplus(r)
                total = total + (0.5 * (s * s + mu * mu - 1) - torch.log(s)).sum()
        return total


def timed(f, seconds):
    f()
    times = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times) < 3:
        t = time.perf_counter()
        f()
        times.append(time.perf_counter() - t)
    times.sort()
    return 1e6 * times[len(times) // 4]  # as utvi bench: the fastest quarter


def measure(name, rule, batch, seconds):
    widths = [int(w) for w in name.split("-")]
    net = Net(widths, RULES[rule])
    x, y = torch.randn(batch, widths[0]), torch.randn(batch, widths[-1])
    with torch.no_grad():
        forward = timed(lambda: net.forward(x), seconds)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)

    def step():
        opt.zero_grad(set_to_none=True)
        m, v = net.forward(x)
        v = v.clamp_min(1e-6)
        nll = (0.5 * torch.log(2 * math.pi * v) + 0.5 * (y - m) ** 2 / v).sum(1).mean()
        (nll + net.kl() / batch).backward()
        opt.step()

    return {"net": name, "rule": rule, "batch": batch, "forward_us": forward, "step_us": timed(step, seconds)}


if __name__ == "__main__":
    name, rule, batch, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    print(json.dumps(measure(name, rule, batch, seconds)))
