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


def conv(i, o, **k):
    return nn.Conv2d(i, o, 3, **k)


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
    "whole": (image, nn.Sequential(conv(3, 2, padding=1), nn.Hardsigmoid())),
}

for name, (shape, net) in nets.items():
    for m in net.modules():  # statistics and gains away from their start
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
            m.running_mean.normal_(0, 0.3)
            m.running_var.uniform_(0.5, 2)
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm)):
            nn.init.uniform_(m.weight, 0.5, 1.5)
            nn.init.uniform_(m.bias, -0.5, 0.5)
    net.eval()
    x = torch.randn(5, *shape)
    y = net(x)
    for opset in (11, 13, 17):
        torch.onnx.export(net, x, f"{folder}/{name}-{opset}.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, opset_version=opset)
        with open(f"{folder}/{name}-{opset}.json", "w") as f:
            json.dump({"x": x.flatten().tolist(), "xdims": list(x.shape), "y": y.flatten().tolist(), "ydims": list(y.shape)}, f)
