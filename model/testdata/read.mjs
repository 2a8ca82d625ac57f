// Reads a model file with Hugging Face's own safetensors parser and prints every
// tensor's shape and values as JSON. The parser expects a hub; its fetch is given
// the file.
//
//   node read.mjs MODEL
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.UTVI_NODE_MODULES + "/x.js");
const hub = await import(pathToFileURL(require.resolve("@huggingface/hub")));
const file = readFileSync(process.argv[2]);

const local = async (url, init) => {
  if (!String(url).includes("model.safetensors")) return new Response(null, { status: 404 });
  const range = new Headers(init?.headers).get("range");
  const [, a, b] = /bytes=(\d+)-(\d*)/.exec(range ?? "") ?? [null, 0, file.length - 1];
  const end = Math.min(Number(b || file.length - 1), file.length - 1);
  const part = file.subarray(Number(a), end + 1);
  return new Response(part, {
    status: range ? 206 : 200,
    headers: { "content-range": `bytes ${a}-${end}/${file.length}`, "content-length": `${part.length}`, etag: '"x"' },
  });
};
const parsed = await hub.parseSafetensorsMetadata({
  repo: "local/model", path: "model.safetensors", hubUrl: "http://local", fetch: local, computeParametersCount: true,
});
const { __metadata__, ...tensors } = parsed.header;
const begin = 8 + Number(file.readBigUInt64LE(0));
const out = { total: Object.values(parsed.parameterCount).reduce((a, b) => a + b, 0), metadata: Object.keys(__metadata__), tensors: {} };
for (const [name, t] of Object.entries(tensors)) {
  const view = new DataView(file.buffer, file.byteOffset + begin + t.data_offsets[0], t.data_offsets[1] - t.data_offsets[0]);
  out.tensors[name] = { dtype: t.dtype, shape: t.shape, values: Array.from({ length: view.byteLength / 4 }, (_, i) => view.getFloat32(4 * i, true)) };
}
console.log(JSON.stringify(out));
