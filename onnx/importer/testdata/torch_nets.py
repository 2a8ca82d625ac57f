# Writes networks of PyTorch as ONNX files, each with inputs and PyTorch's outputs:
# python3 torch_nets.py FOLDER
import json, sys
import torch
from torch import nn

torch.manual_seed(1)
folder = sys.argv[1]


class Residual(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return x + self.f(x)


class Call(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x)


class Skip(nn.Module):
    def __init__(self, f, s):
        super().__init__()
        self.f, self.s = f, s

    def forward(self, x):
        return self.f(x) + self.s(x)


def conv(i, o, **k):
    return nn.Conv2d(i, o, 3, **k)


def block(i, o, stride):  # BasicBlock of torchvision's resnet18
    f = nn.Sequential(conv(i, o, stride=stride, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), conv(o, o, padding=1, bias=False), nn.BatchNorm2d(o))
    if stride == 1 and i == o:
        return nn.Sequential(Residual(f), nn.ReLU())
    return nn.Sequential(Skip(f, nn.Sequential(nn.Conv2d(i, o, 1, stride=stride, bias=False), nn.BatchNorm2d(o))), nn.ReLU())


def resnet18(c):  # its layers, with c channels for 64
    blocks = [block(c << max(0, k - 1), c << k, 1 if k == 0 else 2) for k in range(4)]
    for k in range(4):
        blocks[k] = nn.Sequential(blocks[k], block(c << k, c << k, 1))
    return nn.Sequential(nn.Conv2d(3, c, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(c), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * c, 10))


def pooled(*pools):
    return nn.Sequential(conv(3, 4, padding=1), nn.SiLU(), *pools, nn.Flatten(), nn.LazyLinear(3))


vector, image, line = (6,), (3, 12, 10), (4, 20)
nets = {
    "mlp": (vector, nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))),
    "bare": (vector, nn.Sequential(nn.Linear(6, 8, bias=False), nn.Tanh(), nn.Linear(8, 1))),
    "classes": (vector, nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Dropout(0.3), nn.Linear(16, 5), nn.Softmax(-1))),
    "log-classes": (vector, nn.Sequential(nn.Linear(6, 16), nn.ELU(0.7), nn.Linear(16, 5), nn.LogSoftmax(-1))),
    "norm": (vector, nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))),
    "residual": (vector, nn.Sequential(nn.Linear(6, 8), Residual(nn.Sequential(nn.Linear(8, 12), nn.Mish(), nn.Linear(12, 8))), Residual(nn.Tanh()), nn.Linear(8, 2))),
    "scaled": (vector, nn.Sequential(Call(lambda x: (x - torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])) / torch.tensor([1.0, 2.0, 1.5, 1.0, 0.5, 2.0])), nn.Linear(6, 8), Call(lambda x: x * torch.sigmoid(1.7 * x) - 0.1 * torch.sin(x)), nn.Linear(8, 1), Call(lambda x: 3 * x + 5))),
    "cnn": (image, nn.Sequential(conv(3, 8, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), conv(8, 6), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(6 * 4 * 3, 10), nn.ReLU(), nn.Linear(10, 4))),
    "strides": (image, nn.Sequential(conv(3, 8, stride=2, padding=1), nn.Hardswish(), conv(8, 8, padding=2, dilation=2), nn.PReLU(8, 0.3), conv(8, 8, groups=4, padding=1), nn.Hardtanh(), nn.AvgPool2d(2), nn.Flatten(1), nn.Linear(8 * 3 * 2, 3))),
    "resnet": (image, nn.Sequential(conv(3, 8, padding=1), Residual(nn.Sequential(conv(8, 8, padding=1), nn.BatchNorm2d(8), nn.ReLU(), conv(8, 8, padding=1), nn.BatchNorm2d(8))), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4), nn.Softmax(1))),
    "view": (image, nn.Sequential(nn.Conv2d(3, 4, 4, stride=2), Call(lambda x: nn.functional.softplus(x)), Call(lambda x: x.view(x.size(0), -1)), nn.Linear(4 * 5 * 4, 7))),
    "places": (image, nn.Sequential(conv(3, 4), nn.Sigmoid(), nn.LayerNorm([4, 10, 8]), Call(lambda x: x.mean((2, 3))), nn.Linear(4, 2))),
    "line": (line, nn.Sequential(nn.Conv1d(4, 6, 5, padding=2), nn.ReLU6(), nn.MaxPool1d(2), nn.Conv1d(6, 3, 3), nn.Softsign(), nn.Flatten(), nn.Linear(24, 2))),
    "pixels": ((64,), nn.Sequential(Call(lambda x: x.reshape(-1, 1, 8, 8)), conv(1, 4), nn.GELU("tanh"), nn.Flatten(), nn.Linear(144, 3))),
    "resnet18": ((3, 64, 48), resnet18(4)),
    "skips": (vector, nn.Sequential(Skip(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), Skip(nn.Linear(8, 5), nn.Linear(8, 5))), nn.Linear(6, 5)), nn.ReLU(), Skip(nn.Linear(5, 2), nn.Sequential(nn.Tanh(), nn.Linear(5, 2))))),
    "max-padded": (image, pooled(nn.MaxPool2d(3, 2, 1), nn.MaxPool2d(2, 1, 1))),
    "max-ceil": (image, pooled(nn.MaxPool2d(3, 2, ceil_mode=True), nn.MaxPool2d(3, 2, 1, ceil_mode=True))),
    "average-counted": (image, pooled(nn.AvgPool2d(3, 2, 1), nn.AvgPool2d(2, 2))),
    "average-inside": (image, pooled(nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.AvgPool2d(2, 1, 1, count_include_pad=False))),
    "average-ceil": (image, pooled(nn.AvgPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False))),
    "paddings": (image, nn.Sequential(nn.Conv2d(3, 4, 5, stride=2, padding=(2, 4)), nn.ReLU(), nn.ZeroPad2d((1, 2, 0, 1)), conv(4, 4, stride=2, padding=1), nn.Tanh(), nn.Conv2d(4, 3, 2, stride=2, padding=1), nn.Flatten(), nn.LazyLinear(2))),
    "tcn": (line, nn.Sequential(nn.Conv1d(4, 6, 3, padding=2, dilation=2), nn.ReLU(), Residual(nn.Sequential(nn.ConstantPad1d((4, 0), 0.0), nn.Conv1d(6, 6, 3, dilation=2), nn.GELU())), nn.AvgPool1d(3, 2, 1), nn.Flatten(), nn.LazyLinear(2))),
    "uneven": (image, nn.Sequential(nn.Conv2d(3, 6, (3, 2), stride=(1, 2), groups=3), nn.Tanh(), nn.Conv2d(6, 6, 3, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=6), nn.Flatten(), nn.LazyLinear(2))),
    "unconv": (image, nn.Sequential(conv(3, 4, stride=2), nn.SiLU(), nn.ConvTranspose2d(4, 6, 4, stride=2, padding=1), nn.ReLU(), nn.ConvTranspose2d(6, 4, (3, 2), stride=(2, 3), output_padding=(1, 2), groups=2, bias=False), nn.Tanh(), nn.ConvTranspose2d(4, 2, 2, dilation=(2, 1)))),
    "unconv-line": (line, nn.Sequential(nn.Conv1d(4, 6, 4, stride=2), nn.ReLU(), nn.ConvTranspose1d(6, 3, 4, stride=2, padding=1, output_padding=1), nn.Tanh(), nn.Conv1d(3, 3, 3, padding=2, dilation=2, groups=3))),
    "resized": (image, nn.Sequential(conv(3, 4), nn.Upsample(scale_factor=2), nn.InstanceNorm2d(4, affine=True), nn.SiLU(), nn.Upsample(size=(40, 48), mode="bilinear"), conv(4, 3), nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True))),
    "mixer": (vector, nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), Residual(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))), nn.LayerNorm(16), nn.Hardswish(), nn.Linear(16, 4), nn.Softmax(1))),
    "whole": (image, nn.Sequential(conv(3, 2, padding=1), nn.Hardsigmoid())),
}

for name, (shape, net) in nets.items():
    for m in net.modules():  # statistics and gains away from their start
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            m.running_mean.normal_(0, 0.3)
            m.running_var.uniform_(0.5, 2)
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.InstanceNorm2d)):
            nn.init.uniform_(m.weight, 0.5, 1.5)
            nn.init.uniform_(m.bias, -0.5, 0.5)
    net.eval()
    x = torch.randn(5, *shape)
    y = net(x)  # the first call sizes lazy layers
    for opset in (11, 13, 17) if torch.__version__ < "2" else (11, 13, 17, 18, 20):
        torch.onnx.export(net, x, f"{folder}/{name}-{opset}.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, opset_version=opset)
        with open(f"{folder}/{name}-{opset}.json", "w") as f:
            json.dump({"x": x.flatten().tolist(), "xdims": list(x.shape), "y": y.flatten().tolist(), "ydims": list(y.shape)}, f)
