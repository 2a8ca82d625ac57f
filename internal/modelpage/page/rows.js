// Predicts the rows of a file: a table, a picture where the target is known, a download.

import * as api from "./api.js"
import { parse, write } from "./csv.js"
import { canvas, download, figure, html, label, scale, svg, xAxis, yAxis } from "./svg.js"
import { beside, percent, round } from "./text.js"

const shown = 100 // rows of the table
const drawn = 500 // points of the picture
const atOnce = 500 // rows of a request

// predictFile reads a file, asks for its predictions and shows them in a place. tell is
// called with what is going on.
export async function predictFile(file, model, columns, level, place, tell) {
  place.replaceChildren()
  tell(`Reading ${file.name} …`)
  const text = await file.text()
  if (text.includes("\0") || file.type.startsWith("image/")) throw new Error(`${file.name} is ${file.type.startsWith("image/") ? "an image" : "not a text"}; the model needs a table as CSV, with the columns ${names(columns)}.`)
  const [head, ...lines] = parse(text)
  if (!head || lines.length === 0) throw new Error(`${file.name} has no rows: the first line must name the columns.`)
  const wrong = lines.findIndex(l => l.length !== head.length)
  if (wrong >= 0) throw new Error(`${file.name}, row ${wrong + 1} has ${lines[wrong].length} fields; the first line has ${head.length}.`)
  const lacks = columns.filter(c => !head.includes(c.name)).map(c => c.name)
  const none = lacks.length === columns.length
  if (model.kind === "table" && (none || lacks.length > 0 && !model.missing)) throw new Error(`${file.name} lacks ${none ? "all" : "the"} columns that the model needs: ${lacks.join(", ")}.`)
  const position = columns.map(c => head.indexOf(c.name))
  const row = model.kind === "table"
    ? l => Object.fromEntries(columns.map((c, i) => [c.name, position[i] < 0 || l[position[i]] === "" ? null : l[position[i]]]))
    : l => l.slice(0, columns.length).map(Number)
  const options = model.task === "regression" ? { interval: level } : {}
  const predictions = []
  for (let i = 0; i < lines.length; i += atOnce) {
    tell(`${i} of ${lines.length} rows predicted …`)
    try {
      predictions.push(...(await api.predict(model, lines.slice(i, i + atOnce).map(row), options)).predictions)
    } catch (e) {
      throw new Error(i === 0 ? e.message : `After row ${i}: ${e.message}`)
    }
  }
  tell(`${lines.length} rows of ${file.name} predicted.`)
  show(place, { name: file.name, head, lines, predictions, model, level })
}

function show(place, f) {
  const out = f.model.targets.map(t => outputs(t, f))
  const save = html("button", { type: "button", onclick: () => {
    const names = [...f.head, ...out.flatMap(o => o.names), "ood"]
    const text = write([names, ...f.lines.map((l, i) => [...l, ...out.flatMap(o => o.values(i)), f.predictions[i].ood])])
    download(new Blob([text], { type: "text/csv" }), f.name.replace(/\.[^.]*$/, "") + "-predicted.csv")
  } }, "Download the predictions")
  place.append(html("div", { class: "bar" }, save, html("span", { class: "note" }, f.lines.length > shown ? `The table shows the first ${shown} of ${f.lines.length} rows.` : "")))
  for (const [i, t] of f.model.targets.entries()) {
    const at = f.head.indexOf(t.name)
    if (at < 0) continue
    const fig = figure(f.model.task === "classification" ? `Predicted and actual ${t.name}` : `Predicted against actual ${t.name}`)
    place.append(fig.element)
    if (f.model.task === "classification") fig.show(...confusion(fig.width(), t, f, at))
    else fig.show(...scatter(Math.min(560, fig.width()), t, f, at, out[i]))
  }
  place.append(table(f, out))
}

const names = columns => columns.slice(0, 8).map(c => c.name).join(", ") + (columns.length > 8 ? " …" : "")

// outputs are the columns that a target adds, named as utvi predict names them.
function outputs(t, f) {
  const of = i => f.predictions[i].targets[t.name]
  if (f.model.task === "classification") {
    return {
      names: [t.name + "_class", ...t.levels.map(l => "p_" + l), "entropy"],
      values: i => [of(i).class, ...t.levels.map(l => of(i).probabilities[l]), of(i).entropy],
      short: [["predicted " + t.name, i => of(i).class], ["probability", i => percent(of(i).probabilities[of(i).class], true)]],
    }
  }
  const ends = i => of(i).interval ?? [null, null]
  const some = f.predictions.slice(0, shown).map(p => p.targets[t.name])
  const typical = middle(some.map(p => p.std)), write = v => (Number.isFinite(v) ? beside(v, typical) : "–")
  return {
    names: ["mean", "std", "lo", "hi", "var_weights", "var_inputs", "var_noise"].map(n => `${t.name}_${n}`),
    values: i => [of(i).mean, of(i).std, ...ends(i), of(i).variance.weights, of(i).variance.inputs, of(i).variance.noise],
    short: [["predicted " + t.name, i => write(of(i).mean)], ["±", i => write(of(i).std)], [percent(f.level) + " interval", i => ends(i).map(write).join(" to ")]],
  }
}

// middle is the median of the standard deviations, which decides the decimals of a column.
function middle(stds) {
  const all = stds.filter(s => s > 0).sort((a, b) => a - b)
  return all[Math.floor(all.length / 2)] ?? 1
}

function table(f, out) {
  const hasOOD = f.predictions[0].ood !== undefined
  const cells = [...out.flatMap(o => o.short), ...(hasOOD ? [["ood", i => f.predictions[i].ood.toFixed(2)]] : [])]
  const lines = f.lines.slice(0, shown)
  const numeric = f.head.map((_, j) => lines.every(l => l[j] === "" || Number.isFinite(Number(l[j]))))
  const head = html("tr", {}, html("th", { scope: "col", class: "n" }, "row"), ...cells.map(([name]) => html("th", { scope: "col", class: "n" }, name)), ...f.head.map((n, j) => html("th", { scope: "col", class: numeric[j] && "n" }, n)))
  const body = html("tbody")
  lines.forEach((l, i) => body.append(html("tr", {}, html("td", { class: "n" }, String(i + 1)), ...cells.map(([, text]) => html("td", { class: "n" }, text(i))), ...l.map((v, j) => html("td", { class: numeric[j] && "n" }, v)))))
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Predictions" }, html("table", {}, html("thead", {}, head), body))
}

function scatter(width, t, f, at) {
  const points = []
  f.lines.forEach((l, i) => {
    const actual = l[at] === "" ? NaN : Number(l[at].replace(/[^0-9.eE+-]/g, ""))
    const p = f.predictions[i].targets[t.name]
    const [lo, hi] = p.interval ?? [p.mean - p.std, p.mean + p.std]
    if (Number.isFinite(actual)) points.push({ actual, mean: p.mean, lo, hi })
  })
  const rmse = Math.sqrt(points.reduce((s, p) => s + (p.actual - p.mean) ** 2, 0) / points.length)
  const inside = points.filter(p => p.lo <= p.actual && p.actual <= p.hi).length / points.length
  const every = Math.ceil(points.length / drawn)
  const some = points.filter((_, i) => i % every === 0)
  const all = some.flatMap(p => [p.actual, p.lo, p.hi])
  const height = Math.min(width, 460), margin = (Math.max(...all) - Math.min(...all)) * 0.03 || 1
  const range = [Math.min(...all) - margin, Math.max(...all) + margin]
  const x = scale(...range, 52, width - 8), y = scale(...range, height - 44, 8)
  const text = `Root mean square error ${round(rmse)}; ${percent(inside)} of ${points.length} rows lie in their ${percent(f.level)} interval.`
  const out = canvas(width, height, `Predicted against actual ${t.name}. ${text}`)
  out.append(svg("line", { x1: x(range[0]), y1: y(range[0]), x2: x(range[1]), y2: y(range[1]), stroke: "var(--mid)", "stroke-width": 1 }))
  for (const p of some) {
    out.append(svg("line", { x1: x(p.actual), x2: x(p.actual), y1: y(p.lo), y2: y(p.hi), stroke: "var(--blue)", "stroke-width": 1, opacity: 0.35 }))
    out.append(svg("circle", { cx: x(p.actual), cy: y(p.mean), r: 2.2, fill: "var(--blue)" }))
  }
  xAxis(out, x, height - 44, width / 80, v => round(v, 5))
  yAxis(out, y, 52, 6, v => round(v, 5))
  out.append(label(width / 2 + 22, height - 8, `actual ${t.name}`, { "text-anchor": "middle", fill: "var(--soft)" }))
  out.append(label(58, 14, "predicted", { fill: "var(--soft)" }))
  return [out, text]
}

function confusion(width, t, f, at) {
  const levels = t.levels.slice(0, 12)
  const counts = levels.map(() => levels.map(() => 0))
  let right = 0, known = 0
  f.lines.forEach((l, i) => {
    const a = t.levels.indexOf(l[at]), p = t.levels.indexOf(f.predictions[i].targets[t.name].class)
    if (a < 0) return
    known++
    right += a === p ? 1 : 0
    if (a < levels.length && p < levels.length) counts[a][p]++
  })
  const room = Math.min(width * 0.3, 14 + 7 * Math.max(...levels.map(l => l.length)))
  const size = Math.min(48, (width - room) / levels.length), height = size * levels.length + 52
  const text = known > 0 ? `${percent(right / known)} of ${known} rows are predicted right. Rows of the picture are actual classes, columns predicted ones.` : "No row has one of the model's classes."
  const out = canvas(width, height, text + " " + levels.map((l, i) => `${l}: ` + counts[i].map((n, j) => `${n} as ${levels[j]}`).join(", ")).join("; "))
  const short = (s, n) => (s.length > n ? s.slice(0, n - 1) + "…" : s)
  levels.forEach((l, i) => {
    const most = Math.max(1, counts[i].reduce((a, b) => a + b, 0))
    out.append(label(room - 8, size * (i + 0.5) + 4, short(l, 20), { "text-anchor": "end" }))
    out.append(label(room + size * (i + 0.5), size * levels.length + 16, short(l, Math.max(3, Math.floor(size / 7))), { "text-anchor": "middle", "font-size": 11 }))
    counts[i].forEach((n, j) => {
      out.append(svg("rect", { x: room + size * j, y: size * i, width: size - 1, height: size - 1, fill: i === j ? "var(--blue)" : "var(--vermilion)", opacity: 0.08 + 0.7 * n / most }))
      if (n > 0) out.append(label(room + size * (j + 0.5), size * (i + 0.5) + 4, String(n), { "text-anchor": "middle" }))
    })
  })
  out.append(label(room, height - 8, "predicted →", { fill: "var(--soft)", "font-size": 11 }))
  return [out, text]
}
