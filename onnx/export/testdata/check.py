# Checks every graph of a folder with ONNX' own checker and shape inference.
import glob, os, sys
import onnx

files = sorted(glob.glob(os.path.join(sys.argv[1], "*.onnx")))
bad = 0
for path in files:
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        domains = {n.domain for n in model.graph.node}
        assert domains <= {"", "ai.onnx.ml"}, domains
        assert not any(n.op_type.startswith("Random") or n.op_type in ("Bernoulli", "Multinomial") for n in model.graph.node)
    except Exception as e:
        bad += 1
        print(os.path.basename(path), str(e).strip().splitlines()[0:3])
print(f"{len(files)} graphs checked by onnx {onnx.__version__}, {bad} refused")
sys.exit(bad > 0)
