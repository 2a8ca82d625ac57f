// One control for each column.

import { textOf } from "./columns.js"
import { html, scale, svg } from "./svg.js"
import { round, time } from "./text.js"

// controls fills a place with controls and returns a function that sets a value from
// elsewhere. change is called with the values whenever one of them changes; the value of a
// control that holds no number is undefined.
export function controls(place, model, columns, values, change) {
  const set = Object.create(null) // a column may be named __proto__
  const nested = new Map(columns.filter(c => c.std_of).map(c => [c.std_of, c]))
  const build = c => {
    const make = c.type === "categorical" ? choice : number
    const [element, show] = make(c, model.missing && !c.std_of, v => {
      values[c.name] = v
      change(c)
    })
    set[c.name] = v => {
      values[c.name] = v
      show(v)
      change(c)
    }
    show(values[c.name])
    return element
  }
  const all = []
  for (const c of columns.filter(c => !c.std_of)) {
    const element = build(c)
    if (nested.has(c.name)) element.append(html("div", { class: "nested" }, build(nested.get(c.name))))
    all.push(element)
  }
  place.replaceChildren(...all)
  return (name, v) => set[name](v)
}

let count = 0

// most is the number of levels that are offered as a list; more are typed.
const most = 200

function choice(c, optional, change) {
  if (c.levels.length + (c.more ?? 0) > most) return typed(c, optional, change)
  const id = "c" + count++
  const select = html("select", { id, onchange: () => change(select.value === "\0" ? null : select.value) })
  for (const l of c.levels) select.append(html("option", { value: l }, l))
  if (c.other) select.append(html("option", { value: c.unknown }, "another value"))
  if (optional) select.append(html("option", { value: "\0" }, "missing"))
  return [html("div", { class: "control" }, html("label", { for: id }, c.name), select), v => { select.value = v ?? "\0" }]
}

// typed is the control of a column with many levels: a text, with the frequent ones to
// choose from. Any other text is a level that training did not show.
function typed(c, optional, change) {
  const id = "c" + count++
  const input = html("input", { type: "text", id, list: id + "l", autocomplete: "off", onchange: () => change(input.value === "" && optional ? null : input.value) })
  const list = html("datalist", { id: id + "l" })
  for (const l of c.levels.slice(0, most)) list.append(html("option", { value: l }))
  return [html("div", { class: "control" }, html("label", { for: id }, c.name), input, list), v => { input.value = v ?? "" }]
}

function number(c, optional, change) {
  const id = "c" + count++
  const outside = html("span", { class: "outside", id: id + "o", role: "status" })
  const range = html("input", { type: "range", id: id + "r", min: c.from, max: c.to, step: c.step, "aria-label": c.name, "aria-describedby": id + "e" })
  const kind = c.type === "time" ? "date" : c.std_of ? "number from 0 up" : "number"
  const clock = /15|3:04/.test(c.layout) // a time of day
  const exact = c.type !== "time"
    ? html("input", { type: "number", id, step: "any", inputmode: "decimal", "aria-describedby": id + "o" })
    : clock ? html("input", { type: "datetime-local", id, step: 1 }) : html("input", { type: "date", id })
  const read = c.type === "time" ? () => Date.parse(exact.value + (clock ? "Z" : "T00:00:00Z")) / 1000 : () => exact.valueAsNumber
  const write = c.type === "time"
    ? v => { exact.value = time(v, clock ? "2006-01-02T15:04:05" : "2006-01-02") }
    : v => { exact.value = Number(v.toPrecision(9)) }
  const warn = v => {
    const none = v === undefined
    const far = !none && v !== null && c.min !== undefined && !c.std_of && (v < c.min || v > c.max)
    outside.textContent = none ? `needs a ${kind}` : far ? "outside the training range" : ""
    exact.setAttribute("aria-invalid", none)
    if (none) return
    range.setAttribute("aria-valuetext", textOf(c, v) + (far ? ", outside the training range" : ""))
  }
  const show = v => {
    const none = v === null
    if (!none) {
      range.value = v
      write(v)
    }
    range.disabled = exact.disabled = none
    if (box) box.checked = none
    warn(v)
  }
  range.addEventListener("input", () => {
    const v = range.valueAsNumber
    write(v)
    warn(v)
    change(v)
  })
  exact.addEventListener("input", () => {
    let v = read()
    if (!Number.isFinite(v) || c.std_of && v < 0) v = undefined
    else range.value = v
    warn(v)
    change(v)
  })
  let box = null
  if (optional) {
    box = html("input", { type: "checkbox", onchange: () => {
      let v = box.checked ? null : read()
      if (v !== null && !Number.isFinite(v)) v = c.typical
      show(v)
      change(v)
    } })
  }
  const ends = c.min === undefined
    ? [html("span", {}, round(c.from)), outside, html("span", {}, round(c.to))]
    : [html("span", {}, (c.std_of ? "largest in training: " + textOf(c, c.max) : `training: ${textOf(c, c.min)} to ${textOf(c, c.max)}`)), outside]
  const name = c.std_of ? "standard deviation" : c.name
  const element = html("div", { class: "control" },
    html("div", { class: "line" }, html("label", { for: id }, name), exact),
    html("div", { class: "range" }, ...spark(c), range),
    html("div", { class: "ends", id: id + "e" }, ...ends))
  if (box) element.append(html("label", { class: "missing" }, box, "missing"))
  return [element, show]
}

// spark draws the training values above the slider, and marks their range.
function spark(c) {
  if (c.min === undefined) return []
  const width = 300, height = 26
  const x = scale(c.from, c.to, 8, width - 8)
  const out = svg("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" })
  const h = c.histogram
  if (h && h.from !== undefined) {
    const most = Math.max(...h.counts, 1), bin = (h.to - h.from) / h.counts.length
    h.counts.forEach((n, i) => {
      const a = x(h.from + i * bin), b = x(h.from + (i + 1) * bin)
      out.append(svg("rect", { x: a, width: Math.max(0.5, b - a - 0.5), y: height - 4 - 21 * n / most, height: 21 * n / most, fill: "var(--rule)" }))
    })
  }
  out.append(svg("rect", { x: x(c.min), width: Math.max(1, x(c.max) - x(c.min)), y: height - 3, height: 3, fill: "var(--blue)", opacity: 0.55 }))
  return [out]
}
