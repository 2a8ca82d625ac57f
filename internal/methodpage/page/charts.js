// The pictures: a function with what goes in and comes out, and what a rule makes of other means.

import { canvas, label, path, scale, svg, xAxis, yAxis } from "./svg.js"
import { round } from "./text.js"

export const colours = { input: "var(--blue)", exact: "var(--green)", rule: "var(--vermilion)" }

const density = (x, mean, std) => Math.exp(-0.5 * ((x - mean) / std) ** 2) / (std * Math.sqrt(2 * Math.PI))
const few = 40 // points that get lines of their own

// through draws the function, the input's density below it, the output's beside it.
export function through(width, name, q, a) {
  const height = Math.min(460, Math.max(330, 0.62 * width))
  const left = 44, bottom = height - 78, right = width * 0.68, top = 10, low = height - 30
  const [xa, xb, ya, yb] = a.view
  const x = scale(xa, xb, left, right), y = scale(ya, yb, bottom, top)
  const out = canvas(width, height, `${name} of a Normal with mean ${round(q.mean)} and standard deviation ${round(q.std)}: the rule says ${round(a.rule.mean)} ± ${round(a.rule.std)}, exact is ${round(a.exact.mean)} ± ${round(a.exact.std)}.`)
  const clip = `clip-${Math.random().toString(36).slice(2)}`
  out.append(svg("clipPath", { id: clip }, svg("rect", { x: left, y: top, width: width - left - 6, height: bottom - top })))
  const inside = svg("g", { "clip-path": `url(#${clip})` })
  out.append(inside)
  yAxis(out, y, left, height / 70, v => round(v, 3))
  xAxis(out, x, low, (right - left) / 80, v => round(v, 3))
  out.append(label(right, low + 28, "input x", { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 }))
  out.append(label(left + 6, top + 10, "f(x)", { fill: "var(--soft)", "font-size": 11 }))

  // The input's density hangs on the same x.
  const room = low - bottom - 8
  if (q.std > 0) {
    const peak = density(q.mean, q.mean, q.std)
    const bell = sample(xa, xb, 160).map(v => [x(v), low - room * density(v, q.mean, q.std) / peak])
    out.append(svg("path", { d: path([[x(xa), low], ...bell, [x(xb), low]]) + "Z", fill: colours.input, opacity: 0.25 }))
    out.append(svg("path", { d: path(bell), fill: "none", stroke: colours.input, "stroke-width": 1.4 }))
  } else {
    out.append(svg("line", { x1: x(q.mean), x2: x(q.mean), y1: low, y2: low - room, stroke: colours.input, "stroke-width": 2.5 }))
  }

  const points = a.points ?? []
  if (points.length <= few) {
    for (const p of points) {
      if (p.y === null) continue
      inside.append(svg("path", { d: path([[x(p.x), low], [x(p.x), y(p.y)], [right, y(p.y)]]), fill: "none", stroke: colours.rule, "stroke-width": 0.8, "stroke-dasharray": "3 3", opacity: 0.8 }))
    }
  }
  const values = a.curve.values
  let run = []
  const runs = [run]
  values.forEach((v, i) => {
    if (v === null) return runs.push(run = [])
    const px = x(a.curve.from + (a.curve.to - a.curve.from) * i / (values.length - 1))
    run.push([px, Math.max(-2e3, Math.min(4e3, y(v)))])
  })
  for (const r of runs) if (r.length > 1) inside.append(svg("path", { d: path(r), fill: "none", stroke: "var(--ink)", "stroke-width": 1.8 }))
  const most = Math.max(...points.map(p => Math.abs(p.weight)), 1e-300)
  for (const p of points) {
    if (p.y === null) continue
    const size = points.length > few ? 2 : Math.max(2.2, 6.5 * Math.sqrt(Math.abs(p.weight) / most))
    inside.append(svg("circle", { cx: x(p.x), cy: y(p.y), r: size, fill: p.weight === 0 ? "none" : colours.rule, stroke: colours.rule, opacity: points.length > few ? 0.5 : 1 }))
  }

  // The output's densities share y.
  const from = right + 14, to = width - 8
  const d = a.density, step = (d.to - d.from) / d.values.length
  const normal = a.rule.std > 0 ? sample(d.from, d.to, 240).map(v => [v, density(v, a.rule.mean, a.rule.std)]) : []
  const peak = normal.length ? density(0, 0, a.rule.std) : 0
  // A density may have poles; show what the Normal and the bulk need.
  const exact = Math.max(...d.values)
  const limit = peak > 0 ? Math.max(Math.min(1.05 * exact, 2.5 * peak), 1.05 * peak) : 1.05 * exact || 1
  const w = v => from + (to - from) * Math.min(1, v / limit)
  const steps = d.values.map((v, i) => [w(v), y(d.from + (i + 0.5) * step)])
  inside.append(svg("path", { d: path([[from, y(d.from)], ...steps, [from, y(d.to)]]) + "Z", fill: colours.exact, opacity: 0.25 }))
  inside.append(svg("path", { d: path(steps), fill: "none", stroke: colours.exact, "stroke-width": 1.2 }))
  if (normal.length) inside.append(svg("path", { d: path(normal.map(([v, p]) => [w(p), y(v)])), fill: "none", stroke: colours.rule, "stroke-width": 1.8 }))
  else inside.append(svg("line", { x1: from, x2: to, y1: y(a.rule.mean), y2: y(a.rule.mean), stroke: colours.rule, "stroke-width": 1.8 }))
  for (const at of a.atoms ?? []) {
    inside.append(svg("line", { x1: from, x2: to, y1: y(at.at), y2: y(at.at), stroke: colours.exact, "stroke-width": 3 }))
    inside.append(label(to, y(at.at) - 6, `P = ${round(at.mass, 3)}`, { "text-anchor": "end", "font-size": 11 }))
  }
  out.append(svg("line", { x1: from, x2: from, y1: top, y2: bottom, stroke: "var(--rule)" }))
  out.append(label(to, low + 28, "density of f(x)", { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 }))
  return out
}

const sample = (a, b, n) => Array.from({ length: n + 1 }, (_, i) => a + (b - a) * i / n)

// sweep draws a moment by the rule and exactly, over means of the input; which is "mean" or "std".
export function sweep(width, q, a, which, name) {
  const height = 200, left = 44, bottom = height - 32
  const known = a.sweep.filter(s => s.exact[which] !== null && s.rule[which] !== null)
  if (known.length === 0) return canvas(width, height, "No moments to draw")
  const all = known.flatMap(s => [s.exact[which], s.rule[which]])
  const x = scale(a.sweep[0].at, a.sweep.at(-1).at, left, width - 8)
  const y = scale(Math.min(...all, ...(which === "std" ? [0] : [])), Math.max(...all), bottom, 12)
  const out = canvas(width, height, `${name} by the rule and exactly, for other means of the input`)
  yAxis(out, y, left, 4, v => round(v, 3))
  xAxis(out, x, bottom, width / 90, v => round(v, 3))
  out.append(svg("line", { x1: x(q.mean), x2: x(q.mean), y1: bottom, y2: 8, stroke: "var(--mid)", "stroke-dasharray": "2 3" }))
  for (const [k, size] of [["exact", 3.2], ["rule", 1.6]]) {
    out.append(svg("path", { d: path(known.map(s => [x(s.at), y(s[k][which])])), fill: "none", stroke: colours[k], "stroke-width": size, opacity: k === "exact" ? 0.55 : 1 }))
  }
  out.append(label(width - 8, height - 2, "mean of the input", { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 }))
  return out
}
