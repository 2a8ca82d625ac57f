// What the columns of a model are, and how values of them become rows.

import { round, time } from "./text.js"

// columns of a model, each with the range that its control has: the training range and
// a quarter of it on either side.
export function columnsOf(model) {
  if (model.kind === "network") {
    return Array.from({ length: model.input.size }, (_, i) => ({ name: "x" + (i + 1), type: "numeric", from: -3, to: 3, typical: 0, step: 0.01 }))
  }
  return model.columns.map(c => {
    if (c.type === "image") return { ...c, typical: "" } // a file in base64
    if (c.type === "categorical") return { ...c, unknown: unknownLevel(c.levels) }
    const more = (c.max - c.min) / 4 || 1
    let from = c.min - more, to = c.max + more
    if (c.min >= 0) from = Math.max(0, from)
    if (c.std_of) from = 0
    const step = stepOf(c, to - from)
    const exact = v => Number(v.toPrecision(12))
    from = exact(Math.floor(from / step) * step) // so that steps are round numbers
    to = exact(Math.ceil(to / step) * step)
    const typical = c.type === "time" ? Math.round(c.mean / step) * step : Number(c.typical.toPrecision(4))
    return { ...c, from, to, step, typical }
  })
}

const day = 86400 // seconds

// stepOf is the step of a slider: a day or a minute of times, else a power of ten.
function stepOf(c, range) {
  if (c.type === "time") return range > 30 * day ? day : 60
  return c.whole ? 1 : 10 ** Math.floor(Math.log10(range / 200))
}

// unknownLevel is a text that is not a level.
function unknownLevel(levels) {
  let text = "other"
  while (levels.includes(text)) text += "_"
  return text
}

// rowOf is a row as the server takes it.
export function rowOf(model, columns, values) {
  if (model.kind === "network") return columns.map(c => values[c.name])
  const row = Object.create(null) // a column may be named __proto__
  for (const c of columns) {
    const v = values[c.name]
    row[c.name] = v !== null && c.type === "time" ? time(v, c.layout) : v
  }
  return row
}

// textOf is a value of a column as people read it.
export function textOf(column, value) {
  if (column.type === "image") return "the image"
  if (value === null) return "missing"
  if (column.type === "time") return time(value, column.layout)
  if (column.type === "categorical") return value === column.unknown ? "another" : value
  return round(value)
}

// axisOf are about n marks of a column's axis, and what writes them.
export function axisOf(column, n) {
  if (column.type !== "time") return [n, v => round(v, 5)]
  const [at, layout] = dates(column.from, column.to, n)
  return [at, v => time(v, layout)]
}

const paces = [60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, day, 2 * day, 7 * day, 14 * day]
const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000]

// dates are about n round dates or hours from a to b, and the layout that tells them apart.
export function dates(a, b, n) {
  const raw = (b - a) / Math.max(1, n), all = []
  const pace = paces.find(s => s >= raw)
  if (pace) {
    for (let i = Math.ceil(a / pace); i * pace <= b; i++) all.push(i * pace)
    return [all, pace < day ? "15:04" : "2 Jan"]
  }
  const step = months.find(m => m * 30.4 * day >= raw) ?? 12000
  const first = new Date(1000 * a)
  const start = 12 * first.getUTCFullYear() + first.getUTCMonth()
  for (let m = Math.ceil(start / step) * step; ; m += step) {
    const at = Date.UTC(Math.floor(m / 12), m % 12) / 1000
    if (!(at <= b)) return [all, step < 12 ? "Jan 2006" : "2006"]
    if (at >= a) all.push(at)
  }
}

// path of values through a column: those at which its curve is computed.
export function pathOf(column) {
  if (column.type === "categorical") {
    const most = 12
    const levels = column.levels.slice(0, most)
    return column.other && column.levels.length <= most && !column.more ? [...levels, column.unknown] : levels
  }
  const n = column.type === "time" ? 96 : 24 // times have seasons
  const all = Array.from({ length: n + 1 }, (_, i) => column.from + (column.to - column.from) * i / n)
  return column.whole ? [...new Set(all.map(Math.round))] : all
}
