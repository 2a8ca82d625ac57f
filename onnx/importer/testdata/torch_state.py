# Writes state_dicts of networks as safetensors, with their layers, inputs and PyTorch's outputs:
# python3 torch_state.py FOLDER
import json, struct, sys
import torch
from torch import nn

torch.manual_seed(2)
folder = sys.argv[1]


def save(tensors, path):  # the format of safetensors
    header, data, at = {}, b"", 0
    for name, t in tensors.items():
        raw = t.contiguous().numpy().tobytes()
        header[name] = {"dtype": {torch.float32: "F32", torch.int64: "I64"}[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + len(raw)]}
        data += raw
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def write(name, net, shape, layers):
    for m in net.modules():  # statistics and gains away from their start
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.3)
            m.running_var.uniform_(0.5, 2)
        if isinstance(m, nn.LayerNorm):
            nn.init.uniform_(m.weight, 0.5, 1.5)
    net.eval()
    x = torch.randn(5, *shape)
    y = net(x)
    save(net.state_dict(), f"{folder}/{name}.safetensors")
    json.dump({"input": shape, "layers": layers}, open(f"{folder}/{name}-layers.json", "w"))
    json.dump({"x": x.flatten().tolist(), "xdims": list(x.shape), "y": y.flatten().tolist(), "ydims": list(y.shape)}, open(f"{folder}/{name}.json", "w"))


net = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6 * 4 * 3, 8), nn.LayerNorm(8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 4, bias=False), nn.Softmax(1))
write("chain", net, [3, 8, 6], [
    {"kind": "conv2d", "out": 6, "kernel": [3, 3], "padding": "same"}, {"kind": "batchnorm"}, {"kind": "apply", "f": "relu"}, {"kind": "maxpool2d", "size": [2, 2]},
    {"kind": "flatten"}, {"kind": "dense", "out": 8}, {"kind": "layernorm"}, {"kind": "apply", "f": "tanh"}, {"kind": "dropout"}, {"kind": "dense", "out": 4, "from": "9"}, {"kind": "joint", "map": "softmax"},
])


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.bn, self.downsample = nn.BatchNorm2d(4), nn.Conv2d(2, 4, 1, stride=2, bias=False)
        self.inner, self.fc = nn.Conv2d(4, 4, 3, padding=1), nn.Linear(4 * 2 * 3, 3)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv2(torch.relu(self.conv1(x)))) + self.downsample(x))
        x = x + torch.tanh(self.inner(x))
        return self.fc(nn.functional.max_pool2d(x, 3, 2, 1).flatten(1))


write("blocks", Blocks(), [2, 8, 10], [
    {"kind": "residual", "layers": [
        {"kind": "conv2d", "out": 4, "kernel": [3, 3], "stride": 2, "pad": [1, 1, 1, 1], "from": "conv1"}, {"kind": "apply", "f": "relu"},
        {"kind": "conv2d", "out": 4, "kernel": [3, 3], "padding": "same", "from": "conv2"}, {"kind": "batchnorm", "from": "bn"}],
     "skip": [{"kind": "conv2d", "out": 4, "kernel": [1, 1], "stride": 2, "from": "downsample"}]},
    {"kind": "apply", "f": "relu"},
    {"kind": "residual", "layers": [{"kind": "conv2d", "out": 4, "kernel": [3, 3], "padding": "same", "from": "inner"}, {"kind": "apply", "f": "tanh"}]},
    {"kind": "maxpool2d", "size": [3, 3], "stride": 2, "pad": [1, 1, 1, 1]}, {"kind": "flatten"}, {"kind": "dense", "out": 3, "from": "fc"},
])
