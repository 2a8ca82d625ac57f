# Writes a network's state_dict as safetensors, its layers, inputs and PyTorch's outputs:
# python3 torch_state.py FOLDER
import json, struct, sys
import torch
from torch import nn

torch.manual_seed(2)
folder = sys.argv[1]
net = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6 * 4 * 3, 8), nn.LayerNorm(8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 4, bias=False), nn.Softmax(1))
net[1].running_mean.normal_(0, 0.3)
net[1].running_var.uniform_(0.5, 2)
nn.init.uniform_(net[6].weight, 0.5, 1.5)
net.eval()
x = torch.randn(5, 3, 8, 6)
y = net(x)


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


save(net.state_dict(), f"{folder}/state.safetensors")
layers = [
    {"kind": "conv2d", "out": 6, "kernel": [3, 3], "padding": "same"}, {"kind": "batchnorm"}, {"kind": "apply", "f": "relu"}, {"kind": "maxpool2d", "size": [2, 2]},
    {"kind": "flatten"}, {"kind": "dense", "out": 8}, {"kind": "layernorm"}, {"kind": "apply", "f": "tanh"}, {"kind": "dropout"}, {"kind": "dense", "out": 4, "from": "9"}, {"kind": "joint", "map": "softmax"},
]
json.dump({"input": [3, 8, 6], "layers": layers}, open(f"{folder}/layers.json", "w"))
json.dump({"x": x.flatten().tolist(), "xdims": list(x.shape), "y": y.flatten().tolist(), "ydims": list(y.shape)}, open(f"{folder}/state.json", "w"))
