# What torch_graphs.py and torch_more.py share.
import json, math
import torch
from torch import nn
from torch.nn import functional as F


class Call(nn.Module):  # a function of some modules and the inputs
    def __init__(self, function, /, **modules):
        super().__init__()
        self.function = function
        for name, m in modules.items():
            setattr(self, name, m)

    def forward(self, *x):
        return self.function(self, *x)


def conv(i, o, k=3, **more):
    return nn.Sequential(nn.Conv2d(i, o, k, padding=k // 2, **more), nn.BatchNorm2d(o), nn.ReLU())


class Attention(nn.Module):  # as nanoGPT writes it
    def __init__(self, width=8, heads=2, causal=False):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads
        self.causal = causal

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (y.view(n, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(x).split(c, 2))
        a = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        if self.causal:
            a = a.masked_fill(torch.tril(torch.ones(t, t)) == 0, float("-inf"))
        y = F.softmax(a, -1) @ v
        return self.out(y.transpose(1, 2).reshape(n, t, c))


head = lambda c: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 4))
up = lambda mode: lambda i, o: nn.Sequential(nn.Upsample(scale_factor=2, mode=mode), nn.Conv2d(i, o, 1))
vector, image, line, series, small_image = (6,), (3, 12, 8), (4, 20), (6, 5), (2, 4, 4)
dense = lambda: nn.Sequential(nn.Linear(6, 8), nn.Tanh())
U, P = "first", "plain"  # how inputs lie: channels first, or as they come


def write(nets, folder):
    """Writes networks as ONNX files, each with inputs and PyTorch's outputs."""
    for name, (lie, shapes, net) in nets.items():
        for m in net.modules():  # statistics and gains away from their start
            if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
                m.running_mean.normal_(0, 0.3)
                m.running_var.uniform_(0.5, 2)
            if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm)):
                if m.weight is not None:
                    nn.init.uniform_(m.weight, 0.5, 1.5)
                if m.bias is not None:
                    nn.init.uniform_(m.bias, -0.5, 0.5)
        net.eval()
        x = [torch.randn(5, *shape) for shape in shapes]
        with torch.no_grad():
            y = net(*x)
        y = y if isinstance(y, tuple) else (y,)
        ins, outs = [f"in {i}" for i in range(len(x))], [f"out/{i}" for i in range(len(y))]
        axes = {n: {0: "N"} for n in ins + outs}
        opset = 17
        torch.onnx.export(net, tuple(x), f"{folder}/{name}.onnx", input_names=ins, output_names=outs, dynamic_axes=axes, opset_version=opset)
        lists = lambda all: [{"dims": list(v.shape), "data": v.flatten().tolist()} for v in all]
        with open(f"{folder}/{name}.json", "w") as f:
            json.dump({"lie": lie, "x": lists(x), "y": lists(y)}, f)
