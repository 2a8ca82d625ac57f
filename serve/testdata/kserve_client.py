"""Asks a running server with the Python client of KServe, over REST with JSON and with
binary tensors, and over gRPC, and compares the answers.

    kserve_client.py FOLDER HTTP GRPC

FOLDER is python/kserve/kserve of KServe's sources. Only the client and the types of
requests are imported from it; what these import without using it here (web framework,
cloud events, models of pydantic 2) is replaced by empty modules, and the fast JSON
library by the standard one.
"""
import asyncio, importlib, json, os, subprocess, sys, tempfile, types
import numpy as np

source, http, grpc_address = sys.argv[1:]


def module(name, **attributes):
    m = types.ModuleType(name)
    m.__dict__.update(attributes)
    sys.modules[name] = m
    return m


fast = {"dumps": lambda v, **_: json.dumps(v).encode(), "loads": json.loads, "JSONDecodeError": json.JSONDecodeError}
module("orjson", orjson=types.SimpleNamespace(**fast), **fast)
module("cloudevents")
module("cloudevents.http", CloudEvent=object)
module("cloudevents.conversion", to_binary=None, to_structured=None)
module("fastapi")
module("fastapi.responses", JSONResponse=object)
module("kserve").__path__ = [source]
module("kserve.protocol").__path__ = [os.path.join(source, "protocol")]
module("kserve.protocol.rest")
module("kserve.protocol.rest.v2_datamodels", InferenceRequest=object)

# The messages of gRPC by this machine's compiler, from KServe's own definition.
made = tempfile.mkdtemp()
subprocess.run([sys.executable, "-m", "grpc_tools.protoc", "-I" + os.path.join(source, "protocol/grpc"), "--python_out=" + made, "--grpc_python_out=" + made, "grpc_predict_v2.proto"], check=True)
sys.path.insert(0, made)
module("kserve.protocol.grpc")
for name in ("grpc_predict_v2_pb2", "grpc_predict_v2_pb2_grpc"):
    m = importlib.import_module(name)
    sys.modules["kserve.protocol.grpc." + name] = m
    setattr(sys.modules["kserve.protocol.grpc"], name, m)

client = importlib.import_module("kserve.inference_client")
infer = importlib.import_module("kserve.protocol.infer_type")


def request(binary):
    columns = {"temperature": ("FP64", [140.5, 151.25]), "temperature_std": ("FP64", [1.0, 5.0]), "minutes": ("FP64", [30.0, 12.0])}
    inputs = []
    for name, (kind, values) in columns.items():
        t = infer.InferInput(name, [2], kind)
        t.set_data_from_numpy(np.array(values), binary_data=binary)
        inputs.append(t)
    t = infer.InferInput("resin", [2], "BYTES")
    t.set_data_from_numpy(np.array([b"birch", b"amber"], dtype=object), binary_data=binary)
    inputs.append(t)
    outputs = [infer.RequestedOutput(n, {"binary_data": binary}) for n in ("mean", "std", "hi")]
    return infer.InferRequest("strength", inputs, request_id="42", request_outputs=outputs)


def numbers(answer):
    assert answer.model_name == "strength" and answer.id == "42", answer
    return {o.name: o.as_numpy().reshape(-1).tolist() for o in answer.outputs}


async def main():
    rest = client.InferenceRESTClient(client.RESTConfig(protocol="v2", verbose=False))
    assert await rest.is_server_live(http) and await rest.is_server_ready(http) and await rest.is_model_ready(http, "strength")
    rpc = client.InferenceGRPCClient(url=grpc_address)
    assert await rpc.is_server_live() and await rpc.is_server_ready() and await rpc.is_model_ready("strength")
    all = {}
    for binary in (False, True):
        all["REST", binary] = numbers(await rest.infer(http, request(binary), model_name="strength"))
        all["gRPC", binary] = numbers(await rpc.infer(request(binary)))
    first = all["REST", True]
    assert set(first) == {"mean", "std", "hi"} and len(first["mean"]) == 2 and first["hi"][0] > first["mean"][0], first
    for way, got in all.items():
        assert got == first, (way, got, first)
    print(json.dumps(first))
    await rest.close()
    await rpc.close()


asyncio.run(main())
