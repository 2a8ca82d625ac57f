// The pictures of one prediction.

import { canvas, halo, label, path, scale, svg, xAxis } from "./svg.js"
import { alike, beside, measured, percent, round } from "./text.js"

export const parts = [
  ["weights", "what the model does not know", "var(--blue)"],
  ["inputs", "uncertainty of the inputs", "var(--orange)"],
  ["noise", "noise", "var(--green)"],
]

// density draws the predictive density over the training values of the target.
export function density(width, target, p, level) {
  const height = 230, bottom = height - 34
  const h = target.histogram?.from !== undefined ? target.histogram : null
  const d = p.density
  const from = Math.min(d.from, h ? h.from : d.from), to = Math.max(d.to, h ? h.to : d.to)
  const x = scale(from, to, 12, width - 12)
  const [mean, std] = measured(p.mean, p.std)
  const interval = p.interval ? ` The ${percent(level)} interval reaches from ${beside(p.interval[0], p.std)} to ${beside(p.interval[1], p.std)}.` : ""
  const out = canvas(width, height, `Predictive density of ${target.name}: mean ${mean}, standard deviation ${std}.${interval}`)
  if (h) {
    const most = Math.max(...h.counts, 1), bin = (h.to - h.from) / h.counts.length
    h.counts.forEach((n, i) => {
      const a = x(h.from + i * bin), b = x(h.from + (i + 1) * bin), size = 0.5 * (bottom - 22) * n / most
      out.append(svg("rect", { x: a, width: Math.max(0.5, b - a - 1), y: bottom - size, height: size, fill: "var(--mid)", opacity: 0.35 }))
    })
  }
  const most = Math.max(...d.values, 1e-300)
  const y = v => bottom - (bottom - 22) * v / most
  const points = d.values.map((v, i) => [d.from + (d.to - d.from) * i / (d.values.length - 1), v])
  const curve = points.map(([a, v]) => [x(a), y(v)])
  if (p.interval) {
    const [lo, hi] = p.interval
    const at = v => interpolate(points, v)
    const inside = [[x(lo), bottom], [x(lo), y(at(lo))], ...curve.filter(([a]) => a > x(lo) && a < x(hi)), [x(hi), y(at(hi))], [x(hi), bottom]]
    out.append(svg("path", { d: path(inside) + "Z", fill: "var(--blue)", opacity: 0.3 }))
    for (const [v, anchor, shift] of [[lo, "end", -4], [hi, "start", 4]]) {
      out.append(svg("line", { x1: x(v), x2: x(v), y1: bottom, y2: y(at(v)), stroke: "var(--blue)", "stroke-width": 1 }))
      out.append(label(clamp(x(v) + shift, 40, width - 40), Math.max(34, y(at(v)) - 5), beside(v, p.std), { "text-anchor": anchor, ...halo }))
    }
  }
  out.append(svg("path", { d: path(curve), fill: "none", stroke: "var(--blue)", "stroke-width": 1.8 }))
  // The line reaches its label: a mean may lie where the density is almost 0.
  out.append(svg("line", { x1: x(p.mean), x2: x(p.mean), y1: bottom, y2: 19, stroke: "var(--ink)", "stroke-width": 1, "stroke-dasharray": "3 3" }))
  out.append(label(clamp(x(p.mean), 76, width - 76), 14, `mean ${mean} ± ${std}`, { "text-anchor": "middle", "font-weight": 600, ...halo }))
  xAxis(out, x, bottom, width / 90, v => round(v, 5))
  out.append(label(width - 12, height - 2, target.name, { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 }))
  return out
}

const clamp = (v, a, b) => Math.min(b, Math.max(a, v))

export function interpolate(points, v) {
  if (v <= points[0][0]) return points[0][1]
  for (let i = 1; i < points.length; i++) {
    const [a, p] = points[i - 1], [b, q] = points[i]
    if (v <= b) return p + (q - p) * (v - a) / (b - a)
  }
  return points.at(-1)[1]
}

// variance draws the parts of the variance as one bar.
export function variance(width, v) {
  const total = parts.reduce((s, [k]) => s + v[k], 0)
  const shares = parts.map(([k, text, colour]) => [k, text, colour, total > 0 ? v[k] / total : 0])
  const height = 34 + 19 * parts.length
  const out = canvas(width, height, "Parts of the variance: " + shares.map(([k, text, , s]) => `${k} (${text}) ${percent(s)}`).join(", "))
  let at = 0
  for (const [, , colour, s] of shares) {
    out.append(svg("rect", { x: at, y: 2, width: Math.max(0, s * width - 1), height: 20, fill: colour }))
    at += s * width
  }
  shares.forEach(([, text, colour, s], i) => {
    const y = 42 + 19 * i
    out.append(svg("rect", { x: 0, y: y - 10, width: 11, height: 11, fill: colour }))
    out.append(label(17, y, text), label(width, y, percent(s, true), { "text-anchor": "end" }))
  })
  return out
}

// gauge draws how unlike the training rows a row is, its ood.
export function gauge(width, ood) {
  const most = 2, height = 62
  const x = scale(0, most, 6, width - 6)
  const [good, warn] = ["var(--good)", "var(--warn-rule)"]
  const out = canvas(width, height, `Out of distribution: ood ${round(ood, 3)}, ${likeness(ood)}. 99 of 100 training rows are below 1.`)
  out.append(svg("rect", { x: x(0), width: x(1) - x(0), y: 18, height: 12, fill: good, opacity: 0.45 }))
  out.append(svg("rect", { x: x(1), width: x(most) - x(1), y: 18, height: 12, fill: warn, opacity: 0.7 }))
  const at = x(clamp(ood, 0, most))
  out.append(svg("path", { d: `M${at},32l-6,-17h12z`, fill: "var(--ink)" }))
  out.append(label(clamp(at, 20, width - 24), 11, round(ood, 3) + (ood > most ? " →" : ""), { "text-anchor": "middle", "font-weight": 600 }))
  out.append(label(x(0), 48, "like the training rows", { fill: "var(--soft)", "font-size": 11 }))
  out.append(label(x(1), 60, "1", { "text-anchor": "middle", fill: "var(--soft)", "font-size": 11 }))
  out.append(label(x(most), 48, "unlike them", { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 }))
  return out
}

// likeness says what an ood means.
export const likeness = ood => (ood <= 1 ? "like the training rows" : ood <= 2 ? "unlike the training rows" : "very unlike the training rows")

// classes draws the probability of each class, the training share as a mark.
export function classes(width, target, p) {
  const all = Object.entries(p.probabilities).sort((a, b) => b[1] - a[1]).slice(0, 12)
  const room = Math.min(width * 0.35, 14 + 7 * Math.max(...all.map(([c]) => c.length)))
  const height = 26 * all.length + 8
  const x = scale(0, 1, room, width - 52)
  const counts = target.histogram?.counts
  const rows = counts ? counts.reduce((a, b) => a + b, 0) : 0
  const out = canvas(width, height, "Probabilities: " + all.map(([c, v]) => `${c} ${percent(v)}`).join(", "))
  all.forEach(([c, v], i) => {
    const y = 26 * i + 4
    out.append(label(room - 8, y + 15, c.length > 24 ? c.slice(0, 23) + "…" : c, { "text-anchor": "end" }))
    out.append(svg("rect", { x: room, y, width: width - 52 - room, height: 20, fill: "var(--wash)" }))
    out.append(svg("rect", { x: room, y, width: Math.max(0, x(v) - room), height: 20, fill: i === 0 ? "var(--blue)" : "var(--mid)", opacity: i === 0 ? 1 : 0.7 }))
    out.append(label(width, y + 15, percent(v, true), { "text-anchor": "end" }))
    const n = counts?.[target.levels.indexOf(c)]
    if (n !== undefined && rows > 0) out.append(svg("line", { x1: x(n / rows), x2: x(n / rows), y1: y - 2, y2: y + 22, stroke: "var(--ink)", "stroke-width": 1.5 }))
  })
  return out
}

// drivers draws what each column adds to the prediction.
export function drivers(width, all, unit) {
  const height = 22 * all.length + 30
  const room = Math.min(width * 0.42, 14 + 6.6 * Math.max(...all.map(a => a.text.length)))
  const effects = all.map(a => a.effect), texts = alike(effects).map((t, i) => (effects[i] > 0 ? "+" + t : t))
  const x = scale(Math.min(0, ...effects), Math.max(1e-300, ...effects), room + 50, width - 50)
  const out = canvas(width, height, "What the columns add: " + all.map((a, i) => `${a.text} ${texts[i]}`).join(", "))
  all.forEach((a, i) => {
    const y = 22 * i + 4, zero = x(0), at = x(a.effect)
    out.append(label(room - 8, y + 13, a.text.length > 30 ? a.text.slice(0, 29) + "…" : a.text, { "text-anchor": "end" }))
    out.append(svg("rect", { x: Math.min(zero, at), width: Math.max(0.5, Math.abs(at - zero)), y, height: 17, fill: a.effect < 0 ? "var(--vermilion)" : "var(--blue)" }))
    out.append(label(a.effect < 0 ? at - 5 : at + 5, y + 13, texts[i], { "text-anchor": a.effect < 0 ? "end" : "start", "font-size": 11 }))
  })
  out.append(svg("line", { x1: x(0), x2: x(0), y1: 0, y2: height - 24, stroke: "var(--ink)", "stroke-width": 0.8 }))
  out.append(label(x(0), height - 8, unit, { "text-anchor": "middle", fill: "var(--soft)", "font-size": 11 }))
  return out
}
