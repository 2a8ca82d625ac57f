// Times graphs in onnxruntime on one thread: node speed.cjs modules folder
const fs = require("fs"), path = require("path");
const ort = require(path.join(process.argv[2], "node_modules", "onnxruntime-node"));
const folder = process.argv[3];

async function main() {
  for (const file of fs.readdirSync(folder).sort()) {
    if (!file.endsWith(".json")) continue;
    const c = JSON.parse(fs.readFileSync(path.join(folder, file)));
    const begin = performance.now();
    const session = await ort.InferenceSession.create(path.join(folder, c.name + ".onnx"), { intraOpNumThreads: 1, interOpNumThreads: 1 });
    const load = performance.now() - begin;
    const feeds = {};
    for (const [name, x] of Object.entries(c.inputs)) {
      feeds[name] = x.strings ? new ort.Tensor("string", x.strings, x.dims) : new ort.Tensor("float32", Float32Array.from(x.data, Number), x.dims);
    }
    const times = [];
    for (let i = 0, spent = 0; i < 5 || (spent < 1500 && i < 500); i++) {
      const t = performance.now();
      await session.run(feeds);
      times.push(performance.now() - t);
      spent += times[i];
    }
    times.sort((a, b) => a - b);
    console.log(JSON.stringify({ name: c.name, load: load, best: times[0] }));
  }
}
main();
