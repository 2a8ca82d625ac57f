"""Reads a safetensors file with nothing but the standard library and prints
its checksum's verdict, its metadata, and every value as the bits it is made of."""
import hashlib, json, struct, sys

b = open(sys.argv[1], "rb").read()
(n,) = struct.unpack("<Q", b[:8])
header, data = json.loads(b[8 : 8 + n]), b[8 + n :]
meta = header.pop("__metadata__", {})
stored = meta.pop("checksum")[len("sha256:") :]
zeroed = b.replace(stored.encode(), b"0" * 64, 1)
print("checksum", hashlib.sha256(zeroed).hexdigest() == stored)
print("metadata", " ".join(sorted(f"{k}={v}".encode().hex() for k, v in meta.items())))
for name, t in header.items():
    begin, end = t["data_offsets"]
    code, size = {"F32": ("I", 4), "F64": ("Q", 8), "I64": ("q", 8), "U64": ("Q", 8), "U8": ("B", 1)}[t["dtype"]]
    values = struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end])
    print(name.encode().hex(), t["dtype"], ",".join(map(str, t["shape"])), *values)
