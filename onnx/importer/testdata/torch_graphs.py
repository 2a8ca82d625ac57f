# Writes networks of PyTorch that are no chains as ONNX files, each with inputs and PyTorch's
# outputs: python3 torch_graphs.py FOLDER
import math, sys
import torch
from torch import nn
from torch.nn import functional as F
from torch_parts import Attention, Call, P, U, conv, dense, head, image, line, series, small_image, up, vector, write

torch.manual_seed(2)


def unet(up):
    return Call(unet_forward,
                first=conv(3, 6), down=nn.Sequential(nn.MaxPool2d(2), conv(6, 8)), deep=nn.Sequential(nn.MaxPool2d(2), conv(8, 8)),
                up1=up(8, 6), join1=conv(14, 6), up2=up(6, 5), join2=conv(11, 4), end=nn.Conv2d(4, 2, 1))


def unet_forward(m, x):
    a = m.first(x)
    b = m.down(a)
    y = m.join1(torch.cat([m.up1(m.deep(b)), b], 1))
    return m.end(m.join2(torch.cat([m.up2(y), a], 1)))


def recurrent(kind, last, **more):
    layers = more.get("num_layers", 1)
    both = more.get("bidirectional", False)
    ways = 2 if both else 1
    if last == "state":
        f = lambda m, x: m.end(state(m.r(x)[1])[-1])
    elif last == "states":
        f = lambda m, x: m.end(torch.cat([state(m.r(x)[1])[-2], state(m.r(x)[1])[-1]], 1))
    elif last == "last":
        f = lambda m, x: m.end(m.r(x)[0][:, -1])
    elif last == "mean":
        f = lambda m, x: m.end(m.r(x)[0].mean(1))
    else:
        f = lambda m, x: m.end(m.r(x)[0])
    width = 7 * (2 if last in ("all", "last", "mean") and both or last == "states" else 1)
    return Call(f, r=kind(5, 7, batch_first=True, **more), end=nn.Linear(width, 3))


def state(h):
    return h[0] if isinstance(h, tuple) else h


class Tokens(nn.Module):  # a Transformer encoder, learned positions
    def __init__(self, width=8, heads=2, tokens=6, pool="mean", causal=False, **more):
        super().__init__()
        self.into = nn.Linear(5, width)
        self.at = nn.Parameter(torch.randn(1, tokens, width) * 0.3)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, heads, 16, batch_first=True, **more), 2)
        self.end = nn.Linear(width, 3)
        self.pool = pool
        mask = torch.full((tokens, tokens), float("-inf")).triu(1) if causal else None
        self.register_buffer("mask", mask)

    def forward(self, x):
        y = self.body(self.into(x) + self.at, mask=self.mask)
        return self.end(y.mean(1) if self.pool == "mean" else y[:, 0] if self.pool == "first" else y)


class Patches(nn.Module):  # a small vision Transformer with a token of its own
    def __init__(self, qkv=False):
        super().__init__()
        self.cut, self.own = nn.Conv2d(3, 8, 4, stride=4), nn.Parameter(torch.randn(1, 1, 8))
        self.at, self.norm, self.attend = nn.Parameter(torch.randn(1, 7, 8)), nn.LayerNorm(8), Attention(8, 2)
        self.norm2, self.mlp, self.end = nn.LayerNorm(8), nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)), nn.Linear(8, 4)

    def forward(self, x):
        y = self.cut(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.own.expand(x.shape[0], -1, -1), y], 1) + self.at
        y = y + self.attend(self.norm(y))
        y = y + self.mlp(self.norm2(y))
        return self.end(y[:, 0])


def shuffled(x, groups):
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


def inverted(i, o, wide, stride):  # MobileNet's block
    body = nn.Sequential(nn.Conv2d(i, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
                         nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
                         nn.Conv2d(wide, o, 1, bias=False), nn.BatchNorm2d(o))
    return Call(lambda m, x: x + m.body(x), body=body) if stride == 1 and i == o else body


def excite(c, hard=False):
    squash = nn.Hardsigmoid() if hard else nn.Sigmoid()
    return Call(lambda m, x: x * m.f(x), f=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, 3, 1), nn.ReLU(), nn.Conv2d(3, c, 1), squash))


def excite_linear(c):
    return Call(lambda m, x: x * m.f(x.mean((2, 3)))[:, :, None, None], f=nn.Sequential(nn.Linear(c, 3), nn.ReLU(), nn.Linear(3, c), nn.Sigmoid()))


nets = {
    # The sixteen that people bring first.
    "mlp": (P, [vector], nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, 2))),
    "cnn": (U, [image], nn.Sequential(conv(3, 8), nn.MaxPool2d(2), conv(8, 8), nn.Flatten(), nn.Linear(8 * 6 * 4, 4))),
    "resnet": (U, [image], nn.Sequential(conv(3, 8), Call(lambda m, x: F.relu(x + m.f(x)), f=nn.Sequential(conv(8, 8), nn.Conv2d(8, 8, 3, padding=1))), head(8))),
    "unet": (U, [image], unet(lambda i, o: nn.ConvTranspose2d(i, o, 2, stride=2))),
    "lstm": (P, [series], recurrent(nn.LSTM, "last")),
    "gru": (P, [series], recurrent(nn.GRU, "state")),
    "transformer": (P, [series], Tokens()),
    "gate": (P, [vector], Call(lambda m, x: m.c(m.a(x) * torch.sigmoid(m.b(x))), a=nn.Linear(6, 8), b=nn.Linear(6, 8), c=nn.Linear(8, 2))),
    "concat": (P, [vector], Call(lambda m, x: m.c(torch.cat([m.a(x), m.b(x), x], 1)), a=dense(), b=nn.Linear(6, 4), c=nn.Linear(18, 2))),
    "mobilenet": (U, [image], nn.Sequential(conv(3, 8), inverted(8, 8, 16, 1), inverted(8, 10, 16, 2), inverted(10, 10, 20, 1), head(10))),
    "squeeze-excite": (U, [image], nn.Sequential(conv(3, 8), excite(8), head(8))),
    "groupnorm": (U, [image], nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8), nn.SiLU(), nn.Conv2d(8, 6, 3), nn.GroupNorm(1, 6), nn.ReLU(), head(6))),
    "autoencoder": (U, [image], nn.Sequential(nn.Conv2d(3, 6, 3, 2, 1), nn.ReLU(), nn.Conv2d(6, 4, 3, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 6, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(6, 3, 4, 2, 1), nn.Sigmoid())),
    "two-inputs": (U, [image, vector], Call(lambda m, x, y: m.c(torch.cat([m.a(x), m.b(y)], 1)), a=nn.Sequential(conv(3, 6), nn.AdaptiveAvgPool2d(1), nn.Flatten()), b=dense(), c=nn.Linear(14, 3))),
    "densenet": (U, [image], Call(lambda m, x: densenet(m, x), a=conv(3, 6), b=conv(6, 4), c=conv(10, 4), d=conv(14, 4), end=head(18))),
    "vision-transformer": (U, [image], Patches()),
    # And more.
    "unet-nearest": (U, [image], unet(up("nearest"))),
    "unet-bilinear": (U, [image], unet(up("bilinear"))),
    "lstm-both": (P, [series], recurrent(nn.LSTM, "all", bidirectional=True, num_layers=2)),
    "lstm-states": (P, [series], recurrent(nn.LSTM, "states", bidirectional=True)),
    "lstm-mean": (P, [series], recurrent(nn.LSTM, "mean", bias=False)),
    "gru-both": (P, [series], recurrent(nn.GRU, "last", bidirectional=True, num_layers=2)),
    "gru-all": (P, [series], recurrent(nn.GRU, "all")),
    "rnn": (P, [series], recurrent(nn.RNN, "state", num_layers=2)),
    "rnn-relu": (P, [series], recurrent(nn.RNN, "all", nonlinearity="relu", bidirectional=True)),
    "both-outputs": (P, [series], Call(lambda m, x: both_outputs(m, x), r=nn.GRU(5, 7, batch_first=True), a=nn.Linear(7, 3))),
    "conv-lstm": (U, [line], Call(lambda m, x: m.end(m.r(m.c(x).transpose(1, 2))[0][:, -1]), c=nn.Sequential(nn.Conv1d(4, 6, 3, padding=1), nn.ReLU(), nn.MaxPool1d(2)), r=nn.LSTM(6, 7, batch_first=True), end=nn.Linear(7, 2))),
    "transformer-first": (P, [series], Tokens(norm_first=True, activation="gelu", pool="all")),
    "transformer-causal": (P, [series], Tokens(causal=True, heads=4, pool="all")),
    "nanogpt": (P, [series], nn.Sequential(nn.Linear(5, 8), Call(lambda m, x: x + m.f(m.n(x)), f=Attention(8, 2, True), n=nn.LayerNorm(8)), Call(lambda m, x: x + m.f(x), f=nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))), nn.LayerNorm(8), nn.Linear(8, 3))),
    "attention": (P, [series], Call(lambda m, x: m.a(m.i(x), m.i(x), m.i(x))[0], i=nn.Linear(5, 8), a=nn.MultiheadAttention(8, 4, batch_first=True))),
    "cross-attention": (P, [(6, 8), (4, 8)], Call(lambda m, x, y: m.a(x, y, y, need_weights=False)[0] + x, a=nn.MultiheadAttention(8, 2, batch_first=True))),
    "dot-product": (P, [series], Call(lambda m, x: m.e(dot_product(m.q(x), m.k(x), m.v(x))), q=nn.Linear(5, 8), k=nn.Linear(5, 8), v=nn.Linear(5, 8), e=nn.Linear(8, 2))),
    "mixer": (P, [series], Call(lambda m, x: mixer(m, x), n=nn.LayerNorm(5), a=nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)), o=nn.LayerNorm(5), b=nn.Linear(5, 5), e=nn.Linear(5, 2))),
    "wavenet": (U, [line], Call(lambda m, x: wavenet(m, x), i=nn.Conv1d(4, 6, 1), t=nn.Conv1d(6, 12, 3, padding=2, dilation=2), o=nn.Conv1d(6, 6, 1), u=nn.Conv1d(6, 12, 3, padding=1), p=nn.Conv1d(6, 6, 1), e=nn.Conv1d(6, 2, 1))),
    "glu": (P, [vector], nn.Sequential(nn.Linear(6, 12), nn.GLU(), nn.Linear(6, 3))),
    "highway": (P, [vector], Call(lambda m, x: m.e(torch.sigmoid(m.t(x)) * F.relu(m.h(x)) + (1 - torch.sigmoid(m.t(x))) * x), t=nn.Linear(6, 6), h=nn.Linear(6, 6), e=nn.Linear(6, 2))),
    "inception": (U, [image], nn.Sequential(Call(lambda m, x: torch.cat([m.a(x), m.b(x), m.c(x), m.d(x)], 1), a=conv(3, 4, 1), b=conv(3, 5), c=conv(3, 3, 5), d=nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(3, 2, 1))), conv(14, 6), head(6))),
    "shufflenet": (U, [image], nn.Sequential(conv(3, 8), Call(lambda m, x: shuffled(torch.cat([x.chunk(2, 1)[0], m.f(x.chunk(2, 1)[1])], 1), 2), f=conv(4, 4)), nn.Conv2d(8, 6, 1, groups=2), head(6))),
    "mobilenet3": (U, [image], nn.Sequential(conv(3, 8), nn.Hardswish(), excite(8, True), excite_linear(8), head(8))),
    "pixel-shuffle": (U, [image], nn.Sequential(conv(3, 8), nn.PixelShuffle(2), nn.Conv2d(2, 3, 3, padding=1))),
    "coordinates": (U, [image], Call(lambda m, x: m.e(torch.cat([m.f(x), m.f(x).mean(1, True)], 1)), f=conv(3, 4), e=nn.Conv2d(5, 2, 1))),
    "image-attention": (U, [image], Call(lambda m, x: image_attention(m, x), f=conv(3, 8, stride=2), q=nn.Conv2d(8, 4, 1), k=nn.Conv2d(8, 4, 1), v=nn.Conv2d(8, 8, 1), e=head(8))),
    "film": (U, [image, vector], Call(lambda m, x, y: m.e(m.f(x) * m.g(y)[:, :, None, None] + m.b(y)[:, :, None, None]), f=conv(3, 6), g=nn.Linear(6, 6), b=nn.Linear(6, 6), e=head(6))),
    "siamese": (P, [vector, vector], Call(lambda m, x, y: m.e(torch.abs(m.a(x) - m.b(y))), a=dense(), b=dense(), e=nn.Linear(8, 1))),
    "bilinear": (P, [vector, (4,)], Call(lambda m, x, y: m.e((m.a(x)[:, :, None] * m.b(y)[:, None, :]).flatten(1)), a=nn.Linear(6, 3), b=nn.Linear(4, 5), e=nn.Linear(15, 2))),
    "wide-deep": (P, [vector], Call(lambda m, x: m.w(x) + m.d(x) + m.c(x[:, :3]), w=nn.Linear(6, 2), d=nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2)), c=nn.Linear(3, 2))),
    "mixture": (P, [vector], Call(lambda m, x: (F.softmax(m.g(x), 1)[:, :, None] * torch.stack([m.a(x), m.b(x), m.c(x)], 1)).sum(1), g=nn.Linear(6, 3), a=nn.Linear(6, 2), b=nn.Linear(6, 2), c=nn.Linear(6, 2))),
    "crossing": (P, [vector], Call(lambda m, x: m.e(torch.tanh(m.a(x) + m.b(m.a(x))) + m.c(m.b(m.a(x)))), a=nn.Linear(6, 6), b=nn.Linear(6, 6), c=nn.Linear(6, 6), e=nn.Linear(6, 2))),
    "flip": (P, [vector], Call(lambda m, x: m.e(torch.cat([m.a(x), m.b(x.flip(1))], 1)[:, ::2]), a=nn.Linear(6, 6), b=nn.Linear(6, 6), e=nn.Linear(6, 2))),
    "masked": (P, [series], Call(lambda m, x: m.e(torch.where(m.keep, m.a(x), torch.zeros(()))).softmax(1), a=nn.Linear(5, 4), e=nn.Linear(4, 3))),
    "segments": (U, [image], nn.Sequential(conv(3, 6), nn.Conv2d(6, 4, 1), nn.Softmax(1))),
    "flat-end": (U, [image], nn.Sequential(conv(3, 4), nn.MaxPool2d(2), nn.Flatten())),
    "flat-sum": (U, [small_image], nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(), Call(lambda m, x: x + m.f(x), f=nn.Linear(12, 12)))),
    "max-min": (P, [vector], Call(lambda m, x: m.e(torch.maximum(m.a(x), m.b(x)) / (2 + torch.minimum(m.a(x), m.b(x)))), a=dense(), b=dense(), e=nn.Linear(8, 2))),
    "row-statistics": (P, [series], nn.Sequential(nn.Linear(5, 4), Call(lambda m, x: m.e(torch.cat([x.mean(1), ((x - x.mean(1, True)) ** 2).mean(1).sqrt(), x.sum(1)], 1)), e=nn.Linear(12, 2)))),
    "deep-supervision": (P, [vector], Call(lambda m, x: (m.b(m.a(x)), m.c(m.a(x))), a=dense(), b=nn.Linear(8, 2), c=nn.Linear(8, 3))),
}
nets["masked"][2].register_buffer("keep", torch.tensor([[True, False, True, True]] * 3 + [[False, True, True, False]] * 3))


def densenet(m, x):
    a = m.a(x)
    b = torch.cat([a, m.b(a)], 1)
    c = torch.cat([b, m.c(b)], 1)
    return m.end(torch.cat([c, m.d(c)], 1))


def both_outputs(m, x):
    y, h = m.r(x)
    return m.a(y) * m.a(h[0])[:, None]


def dot_product(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v)
    return F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v


def mixer(m, x):
    x = x + m.a(m.n(x).transpose(1, 2)).transpose(1, 2)
    x = x + m.b(m.o(x))
    return m.e(x.mean(1))


def wavenet(m, x):
    x = m.i(x)
    total = 0
    for t, o in ((m.t, m.o), (m.u, m.p)):
        a, b = t(x).chunk(2, 1)
        y = o(torch.tanh(a) * torch.sigmoid(b))
        x, total = x + y, total + y
    return m.e(F.relu(total))


def image_attention(m, x):
    y = m.f(x)
    q, k, v = (f(y).flatten(2) for f in (m.q, m.k, m.v))
    a = F.softmax(q.transpose(1, 2) @ k, -1)
    return m.e(y + 0.5 * (v @ a.transpose(1, 2)).view(y.shape[0], 8, y.shape[2], y.shape[3]))


write(nets, sys.argv[1])
