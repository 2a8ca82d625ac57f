// Runs every case of a folder in onnxruntime and prints one line of JSON for each:
// node compare.cjs modules folder
const fs = require("fs"), path = require("path");
const ort = require(path.join(process.argv[2], "node_modules", "onnxruntime-node"));
const folder = process.argv[3];
const numbers = (t) => Array.from(t.data, (v) => (Number.isFinite(v) ? v : String(v)));

async function main() {
  for (const file of fs.readdirSync(folder).sort()) {
    if (!file.endsWith(".json")) continue;
    const c = JSON.parse(fs.readFileSync(path.join(folder, file)));
    const result = { name: c.name };
    try {
      const session = await ort.InferenceSession.create(path.join(folder, c.name + ".onnx"), { intraOpNumThreads: 1, logSeverityLevel: 3 });
      const feeds = {};
      for (const [name, x] of Object.entries(c.inputs)) {
        const make = (kind, data) => (feeds[name] = new ort.Tensor(kind, data, x.dims));
        if (x.strings) make("string", x.strings);
        else if (x.double) make("float64", Float64Array.from(x.data, Number));
        else make("float32", Float32Array.from(x.data, Number));
      }
      const out = await session.run(feeds);
      result.outputs = {};
      for (const [name, t] of Object.entries(out)) {
        result.outputs[name] = t.type === "string" ? { dims: t.dims, strings: t.data } : { dims: t.dims, data: numbers(t) };
      }
    } catch (e) {
      result.error = String(e.message || e);
    }
    console.log(JSON.stringify(result));
  }
}
main();
