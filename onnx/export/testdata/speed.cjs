// Times graphs in onnxruntime on one thread: node speed.cjs modules folder. It reads the
// name of a case from each line, runs it once, and writes the milliseconds; the first time
// it loads the case, and writes how long that took.
const fs = require("fs"), path = require("path");
const ort = require(path.join(process.argv[2], "node_modules", "onnxruntime-node"));
const folder = process.argv[3];
const cases = new Map();

async function load(name) {
  const c = JSON.parse(fs.readFileSync(path.join(folder, name + ".json")));
  const begin = performance.now();
  const session = await ort.InferenceSession.create(path.join(folder, name + ".onnx"), { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const spent = performance.now() - begin;
  const feeds = {};
  for (const [name, x] of Object.entries(c.inputs)) {
    feeds[name] = x.strings ? new ort.Tensor("string", x.strings, x.dims) : new ort.Tensor("float32", Float32Array.from(x.data, Number), x.dims);
  }
  cases.set(name, { session, feeds });
  return spent;
}

async function run({ session, feeds }) {
  const begin = performance.now();
  await session.run(feeds);
  return performance.now() - begin;
}

async function main() {
  for await (const name of require("readline").createInterface({ input: process.stdin })) {
    console.log(cases.has(name) ? await run(cases.get(name)) : await load(name));
  }
}
main();
