// Curves along each column through the present point, and what they say about it.

import { axisOf, pathOf, rowOf, textOf } from "./columns.js"
import { interpolate } from "./charts.js"
import { canvas, label, path, scale, svg, xAxis, yAxis } from "./svg.js"
import { percent, round } from "./text.js"

// The most columns whose curves are drawn.
export const mostColumns = 24

// questions are the rows whose predictions make the curves: along each column, all else
// as it is.
export function questions(model, columns, values) {
  const rows = [], curves = []
  for (const column of columns.slice(0, mostColumns)) {
    const at = pathOf(column)
    curves.push({ column, at, first: rows.length })
    for (const v of at) rows.push(rowOf(model, columns, { ...values, [column.name]: v }))
  }
  return { rows, curves }
}

// answered puts the predictions of a target into the curves: mean, lo and hi, or the
// probability of a class.
export function answered(curves, predictions, target, cls) {
  return curves.map(c => ({
    column: c.column,
    points: c.at.map((v, i) => {
      const p = predictions[c.first + i].targets[target.name]
      if (cls !== null) return { v, mean: p.probabilities[cls] }
      const [lo, hi] = p.interval ?? [p.mean - p.std, p.mean + p.std]
      return { v, mean: p.mean, lo, hi }
    }),
  }))
}

// effects say what each column adds to a prediction: the difference to the mean over the
// column's training values, all other columns as they are.
export function effects(curves, values, now) {
  const all = []
  for (const { column, points } of curves) {
    if (column.std_of) continue
    let sum = 0, total = 0
    const h = column.histogram
    if (column.type === "categorical") {
      points.forEach((p, i) => {
        const n = h ? h.counts[p.v === column.unknown ? column.levels.length : i] ?? 0 : 1
        sum += n * p.mean
        total += n
      })
    } else {
      const curve = points.map(p => [p.v, p.mean])
      const counts = h?.counts ?? [1]
      const from = h?.from ?? column.typical, bin = h ? (h.to - h.from) / counts.length : 0
      counts.forEach((n, i) => {
        sum += n * interpolate(curve, from + (i + 0.5) * bin)
        total += n
      })
    }
    all.push({ column, text: `${column.name} = ${textOf(column, values[column.name])}`, effect: total > 0 ? now - sum / total : 0 })
  }
  return all.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)).slice(0, 12)
}

// range of all curves, so that they can be compared.
export function rangeOf(curves, isClass) {
  if (isClass) return [0, 1]
  let lo = Infinity, hi = -Infinity
  for (const c of curves) {
    for (const p of c.points) {
      lo = Math.min(lo, p.lo)
      hi = Math.max(hi, p.hi)
    }
  }
  return [lo, hi]
}

// draw draws one curve; choose is called with a value that was clicked at.
export function draw(width, curve, [lo, hi], values, target, choose) {
  const { column, points } = curve
  const height = 170, left = 46, right = width - 10, top = 10, bottom = height - 30
  const y = scale(lo, hi, bottom, top)
  const isClass = points[0].lo === undefined
  const out = canvas(width, height, describe(curve, values, target))
  yAxis(out, y, left, 4, isClass ? percent : v => round(v, 4))
  if (column.type === "categorical") {
    levels(out, curve, y, left, right, bottom, values, choose)
    return out
  }
  const x = scale(column.from, column.to, left + 4, right)
  if (column.min !== undefined) {
    out.append(svg("rect", { x: x(column.min), width: x(column.max) - x(column.min), y: bottom - 3, height: 3, fill: "var(--blue)", opacity: 0.55 }))
  }
  if (!isClass) {
    const band = [...points.map(p => [x(p.v), y(p.hi)]), ...points.toReversed().map(p => [x(p.v), y(p.lo)])]
    out.append(svg("path", { d: path(band) + "Z", fill: "var(--blue)", opacity: 0.2 }))
  }
  out.append(svg("path", { d: path(points.map(p => [x(p.v), y(p.mean)])), fill: "none", stroke: "var(--blue)", "stroke-width": 1.8 }))
  xAxis(out, x, bottom, ...axisOf(column, width / 75), column.whole)
  const now = values[column.name]
  if (now !== null && now >= column.from && now <= column.to) {
    const mean = interpolate(points.map(p => [p.v, p.mean]), now)
    out.append(svg("line", { x1: x(now), x2: x(now), y1: top, y2: bottom, stroke: "var(--ink)", "stroke-width": 0.8, "stroke-dasharray": "3 3" }))
    out.append(svg("circle", { cx: x(now), cy: y(mean), r: 4, fill: "var(--ink)" }))
  }
  out.addEventListener("click", e => {
    const at = (e.clientX - out.getBoundingClientRect().left) * width / out.getBoundingClientRect().width
    const v = Math.min(column.to, Math.max(column.from, x.invert(at)))
    choose(column.name, Math.round(v / column.step) * column.step)
  })
  return out
}

function levels(out, { column, points }, y, left, right, bottom, values, choose) {
  const step = (right - left) / points.length
  out.append(svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "var(--ink)", "stroke-width": 0.8 }))
  const most = Math.max(3, Math.floor(step / 6.2))
  points.forEach((p, i) => {
    const x = left + (i + 0.5) * step, now = values[column.name] === p.v
    if (p.lo !== undefined) out.append(svg("line", { x1: x, x2: x, y1: y(p.lo), y2: y(p.hi), stroke: "var(--blue)", "stroke-width": 5, opacity: 0.25 }))
    out.append(svg("circle", { cx: x, cy: y(p.mean), r: now ? 5 : 4, fill: now ? "var(--ink)" : "var(--blue)" }))
    const text = textOf(column, p.v)
    out.append(label(x, bottom + 16, text.length > most ? text.slice(0, most - 1) + "…" : text, { "text-anchor": "middle", "font-size": 11, "font-weight": now ? 600 : 400 }))
    const hit = svg("rect", { x: x - step / 2, width: step, y: 0, height: bottom + 20, fill: "transparent" })
    hit.append(svg("title", {}, text))
    hit.addEventListener("click", () => choose(column.name, p.v))
    out.append(hit)
  })
}

function describe({ column, points }, values, target) {
  const write = points[0].lo === undefined ? percent : v => round(v)
  if (column.type === "categorical") {
    return `${target.name} by ${column.name}: ` + points.map(p => `${textOf(column, p.v)} ${write(p.mean)}`).join(", ")
  }
  const a = points[0], b = points.at(-1)
  return `${target.name} along ${column.name}: ${write(a.mean)} at ${textOf(column, a.v)}, ${write(b.mean)} at ${textOf(column, b.v)}; now ${textOf(column, values[column.name])}`
}
