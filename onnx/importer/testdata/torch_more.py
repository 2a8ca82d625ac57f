# Writes more networks of PyTorch, each for something that exporters write: states that come in and go out,
# borders, selections, repetitions, norms, masks. python3 torch_more.py FOLDER
import math, sys
import torch
from torch import nn
from torch.nn import functional as F
from torch_parts import Attention, Call, P, U, conv, head, image, line, series, vector, write

torch.manual_seed(3)


class RMS(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(n) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.gain


class Rotary(nn.Module):  # attention whose queries and keys turn with their place
    def __init__(self, tokens, width, heads):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.heads, d = heads, width // heads
        angle = torch.arange(tokens)[:, None] * 10000 ** (-torch.arange(0, d, 2) / d)[None]
        angle = torch.cat([angle, angle], 1)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def turned(self, x):
        a, b = x.chunk(2, -1)
        return x * self.cos + torch.cat([-b, a], -1) * self.sin

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (f(x).view(n, t, self.heads, c // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.softmax(self.turned(q) @ self.turned(k).transpose(-1, -2) / math.sqrt(c // self.heads), -1) @ v
        return self.o(y.transpose(1, 2).reshape(n, t, c))


class Windows(nn.Module):  # attention within windows that are shifted
    def __init__(self, c, side=4, shift=2):
        super().__init__()
        self.attend, self.norm, self.side, self.shift = Attention(c, 2), nn.LayerNorm(c), side, shift

    def forward(self, x):
        (n, c, h, w), s, d = x.shape, self.side, self.shift
        y = torch.roll(x, (-d, -d), (2, 3)).permute(0, 2, 3, 1)
        y = y.reshape(n, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        y = self.attend(self.norm(y)).reshape(n, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return x + torch.roll(y.permute(0, 3, 1, 2), (d, d), (2, 3))


def turned(m, x, *state):  # states with the rows first, outside
    y, s = m.r(x, tuple(v.transpose(0, 1).contiguous() for v in state) if len(state) > 1 else state[0].transpose(0, 1).contiguous())
    return (m.e(y[:, 0]), *(v.transpose(0, 1) for v in (s if isinstance(s, tuple) else (s,))))


def streamed(kind, **more):
    return Call(turned, r=kind(5, 7, batch_first=True, **more), e=nn.Linear(7, 2))


def cell(m, x, h, c):  # an LSTM's cell, spelt out
    i, f, g, o = (m.i(x) + m.h(h)).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    return m.e(h), h, c


def started():
    m = Call(lambda m, x: m.e(m.r(x, tuple(s.expand(-1, x.shape[0], -1).contiguous() for s in (m.first, m.memory)))[0][:, -1]),
             r=nn.LSTM(5, 7, batch_first=True), e=nn.Linear(7, 2))
    m.first, m.memory = nn.Parameter(torch.randn(1, 1, 7)), nn.Parameter(torch.randn(1, 1, 7))
    return m


def convnext(m, x):
    return x + (m.gain * m.b(F.gelu(m.a(m.n(m.d(x).permute(0, 2, 3, 1)))))).permute(0, 3, 1, 2)


def attended(m, x):  # channels and places that gate an image
    y = m.a(x)
    return m.e(y * torch.sigmoid(m.c(torch.cat([y.mean(1, True), y.max(1, True)[0]], 1))))


def with_tensor(m, name, tensor):
    m.register_buffer(name, tensor)
    return m


into, out = lambda: nn.Linear(6, 8), lambda n=8: nn.Linear(n, 2)
nets = {
    "stream-lstm": (P, [(1, 5), (1, 7), (1, 7)], streamed(nn.LSTM)),
    "stream-lstm-bare": (P, [(1, 5), (1, 7), (1, 7)], streamed(nn.LSTM, bias=False)),
    "stream-gru": (P, [(1, 5), (1, 7)], streamed(nn.GRU)),
    "stream-rnn": (P, [(1, 5), (1, 7)], streamed(nn.RNN, nonlinearity="relu")),
    "cell-lstm": (P, [(5,), (7,), (7,)], Call(cell, i=nn.Linear(5, 28), h=nn.Linear(7, 28), e=out(7))),
    "lstm-started": (P, [series], started()),
    "seq2seq": (P, [series], Call(lambda m, x: m.e(m.d(m.r(x)[1][-1][:, None, :].expand(-1, 4, -1))[0]), r=nn.GRU(5, 7, batch_first=True), d=nn.GRU(7, 6, batch_first=True), e=out(6))),
    "crnn": (U, [(1, 8, 20)], Call(lambda m, x: m.e(m.r(m.c(x).mean(2).transpose(1, 2))[0]).flatten(1), c=nn.Sequential(conv(1, 6), nn.MaxPool2d(2)), r=nn.LSTM(6, 7, bidirectional=True, batch_first=True), e=out(14))),
    "pad-reflect": (U, [image], nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.ReplicationPad2d((1, 2, 0, 1)), nn.Conv2d(4, 2, 3))),
    "pad-value": (U, [image], nn.Sequential(nn.ConstantPad2d(1, 0.7), nn.Conv2d(3, 4, 3), nn.ReLU())),
    "pad-circular": (U, [image], nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), nn.ReLU())),
    "pad-line": (U, [line], nn.Sequential(nn.ReflectionPad1d(2), nn.Conv1d(4, 3, 5), nn.Tanh())),
    "pad-end": (U, [image], nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU(), nn.ZeroPad2d((1, 0, 2, 1)))),
    "split-uneven": (P, [vector], Call(lambda m, x: m.e(torch.cat([F.relu(m.a(x).split([3, 5], 1)[1]), torch.tanh(m.a(x).split([3, 5], 1)[0])], 1)), a=into(), e=out())),
    "gather": (P, [vector], Call(lambda m, x: m.e(m.a(x)[:, [0, 3, 3, 1, 6]]), a=into(), e=out(5))),
    "index-select": (U, [image], Call(lambda m, x: m.e(torch.index_select(m.a(x), 1, torch.tensor([3, 1, 0]))), a=conv(3, 4), e=nn.Conv2d(3, 2, 1))),
    "repeat": (P, [vector], with_tensor(Call(lambda m, x: m.e(m.a(x)[:, None, :].repeat(1, 3, 2) + m.p), a=nn.Linear(6, 4), e=out()), "p", torch.randn(3, 8))),
    "resize-down": (U, [image], nn.Sequential(conv(3, 4), nn.Upsample(size=(6, 4), mode="nearest"), nn.Conv2d(4, 2, 1))),
    "resize-half": (U, [image], nn.Sequential(conv(3, 4), nn.Upsample(scale_factor=1.5, mode="bilinear"), nn.Conv2d(4, 2, 1))),
    "resize-line": (U, [line], nn.Sequential(nn.Conv1d(4, 3, 3), nn.Upsample(scale_factor=2, mode="linear"), nn.Conv1d(3, 2, 1))),
    "rmsnorm": (P, [series], nn.Sequential(nn.Linear(5, 8), RMS(8), nn.Linear(8, 3))),
    "llama": (P, [series], nn.Sequential(nn.Linear(5, 8), Call(lambda m, x: x + m.a(m.n(x)), n=RMS(8), a=Rotary(6, 8, 2)), Call(lambda m, x: x + m.c(F.silu(m.a(m.n(x))) * m.b(m.n(x))), n=RMS(8), a=nn.Linear(8, 12, bias=False), b=nn.Linear(8, 12, bias=False), c=nn.Linear(12, 8, bias=False)), RMS(8), nn.Linear(8, 3))),
    "layernorm-bare": (P, [series], nn.Sequential(nn.Linear(5, 8), nn.LayerNorm(8, elementwise_affine=False), nn.Linear(8, 3))),
    "groupnorm-line": (U, [line], nn.Sequential(nn.Conv1d(4, 6, 3), nn.GroupNorm(3, 6), nn.SiLU(), nn.Flatten(), nn.Linear(108, 2))),
    "instancenorm": (U, [image], nn.Sequential(nn.Conv2d(3, 6, 3), nn.InstanceNorm2d(6), nn.ReLU(), head(6))),
    "batchnorm-bare": (U, [image], nn.Sequential(nn.Conv2d(3, 4, 3), nn.PReLU(), nn.BatchNorm2d(4, affine=False))),
    "convnext": (U, [image], nn.Sequential(nn.Conv2d(3, 6, 4, stride=4), with_tensor(Call(convnext, d=nn.Conv2d(6, 6, 7, padding=3, groups=6), n=nn.LayerNorm(6), a=nn.Linear(6, 12), b=nn.Linear(12, 6)), "gain", torch.rand(6)), head(6))),
    "windows": (U, [(3, 8, 8)], nn.Sequential(nn.Conv2d(3, 8, 1), Windows(8), head(8))),
    "key-mask": (P, [series, (6,)], Call(lambda m, x, k: m.e(F.softmax(m.q(x) @ m.k(x).transpose(1, 2) / 3 + k[:, None, :], -1) @ m.v(x)), q=nn.Linear(5, 8), k=nn.Linear(5, 8), v=nn.Linear(5, 8), e=out())),
    "masked-mean": (P, [series, (6,)], Call(lambda m, x, k: m.e((m.a(x) * k[:, :, None]).sum(1)), a=nn.Linear(5, 8), e=out())),
    "where-input": (P, [vector], Call(lambda m, x: m.e(torch.where(x > 0.1, m.a(x), m.b(x))), a=nn.Linear(6, 6), b=nn.Linear(6, 6), e=out(6))),
    "decoder": (P, [(6, 8), (4, 8)], Call(lambda m, x, y: m.d(x, y), d=nn.TransformerDecoderLayer(8, 2, 16, batch_first=True))),
    "normalize": (P, [vector], Call(lambda m, x: m.e(F.normalize(m.a(x), dim=1)), a=into(), e=out())),
    "cosine": (P, [vector, vector], Call(lambda m, x, y: F.cosine_similarity(m.a(x), m.a(y), dim=1)[:, None], a=into())),
    "logsumexp": (P, [vector], Call(lambda m, x: torch.logsumexp(m.a(x), 1, True), a=into())),
    "least-and-most": (P, [series], Call(lambda m, x: m.e(torch.cat([m.a(x).amax(1), m.a(x).amin(1)], 1)), a=nn.Linear(5, 4), e=out())),
    "absolute-sum": (P, [vector], Call(lambda m, x: m.e(torch.norm(m.a(x), p=1, dim=1, keepdim=True)), a=nn.Linear(6, 4), e=out(1))),
    "adaptive": (U, [image], nn.Sequential(conv(3, 4), nn.AdaptiveAvgPool2d((3, 2)), nn.Flatten(), nn.Linear(24, 2))),
    "adaptive-max": (U, [image], nn.Sequential(conv(3, 4), nn.AdaptiveMaxPool2d((3, 2)), nn.Flatten(), nn.Linear(24, 2))),
    "unshuffle": (U, [image], nn.Sequential(conv(3, 4), nn.PixelUnshuffle(2), nn.Conv2d(16, 3, 1))),
    "fourier": (P, [vector], Call(lambda m, x: m.e(torch.cat([torch.sin(m.a(x)), torch.cos(m.a(x))], 1)), a=into(), e=out(16))),
    "hyper": (P, [vector, (4,)], Call(lambda m, x, y: (m.w(y).view(-1, 3, 6) @ x[:, :, None])[:, :, 0], w=nn.Linear(4, 18))),
    "weight-norm": (U, [line], nn.Sequential(nn.utils.weight_norm(nn.Conv1d(4, 6, 3, padding=1)), nn.ReLU(), nn.Conv1d(6, 2, 1))),
    "glu-image": (U, [image], nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GLU(1), nn.Conv2d(4, 2, 1))),
    "log-image": (U, [image], nn.Sequential(nn.Conv2d(3, 4, 3), nn.LogSoftmax(1))),
    "detector": (U, [image], Call(lambda m, x: torch.cat([torch.sigmoid(m.a(x)[:, :2]), torch.exp(m.a(x)[:, 2:4]), m.a(x)[:, 4:].softmax(1)], 1), a=nn.Conv2d(3, 7, 3))),
    "two-heads": (U, [image], Call(lambda m, x: (m.p(m.a(x)), m.q(m.a(x))), a=conv(3, 4), p=head(4), q=nn.Conv2d(4, 2, 1))),
    "gated-places": (U, [image], Call(attended, a=conv(3, 6), c=nn.Conv2d(2, 1, 3, padding=1), e=head(6))),
    "tied": (P, [vector], Call(lambda m, x: m.a(torch.tanh(m.a(torch.tanh(m.a(x))))), a=nn.Linear(6, 6))),
    "two-towers": (P, [vector, vector], with_tensor(Call(lambda m, x, y: m.s.exp() * (m.a(x) * m.a(y)).sum(1, keepdim=True), a=nn.Linear(6, 4)), "s", torch.tensor(0.3))),
    "even-kernel": (U, [image], nn.Sequential(nn.Conv2d(3, 4, 4, padding="same"), nn.ReLU(), nn.Conv2d(4, 2, (1, 5), padding="same"))),
    "line-unet": (U, [line], Call(lambda m, x: m.e(torch.cat([m.u(m.d(x)), x], 1)), d=nn.Sequential(nn.Conv1d(4, 6, 4, stride=2, padding=1), nn.ELU()), u=nn.ConvTranspose1d(6, 3, 4, stride=2, padding=1), e=nn.Conv1d(7, 2, 1))),
    "stacked-gates": (P, [series], Call(lambda m, x: m.e(m.r(torch.sigmoid(m.g(x)) * m.a(x))[0]), a=nn.Linear(5, 6), g=nn.Linear(5, 6), r=nn.GRU(6, 4, num_layers=2, batch_first=True), e=out(4))),
    "soft-argmax": (U, [image], with_tensor(Call(lambda m, x: (m.a(x).flatten(2).softmax(2) @ m.g).flatten(1), a=nn.Conv2d(3, 2, 3)), "g", torch.randn(60, 2))),
}
if torch.__version__ < "2":  # which cannot write the first two, and writes another network for the last
    del nets["layernorm-bare"], nets["even-kernel"], nets["pad-circular"]
write(nets, sys.argv[1])
