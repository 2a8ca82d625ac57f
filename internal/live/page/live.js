// Shows the work as it goes on.

import { canvas, figure, html, label, path, scale, svg, xAxis, yAxis } from "./svg.js"
import { alike, round } from "./text.js"

const $ = id => document.getElementById(id)
const colours = ["blue", "orange", "green", "purple", "sky", "vermilion"].map(c => `var(--${c})`)
const marks = ["", "6 3", "2 2", "8 3 2 3"]

// stroke is how the curve of training i is drawn.
const stroke = i => ({ stroke: colours[i % colours.length], "stroke-width": 1.8, "stroke-dasharray": marks[Math.floor(i / colours.length) % marks.length] })

const events = new EventSource("events")
let last = null

events.onmessage = e => {
  last = JSON.parse(e.data)
  $("alert").hidden = true
  show()
  if (last.end) events.close()
}
events.onerror = () => {
  if (last?.end) return
  $("alert").hidden = false
  $("alert").textContent = "The program does not answer; it may have ended."
}

$("stop").addEventListener("click", async () => {
  $("stop").disabled = true
  await fetch("stop", { method: "POST" }).catch(() => {})
})

function duration(seconds) {
  const s = Math.round(seconds)
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`
  return `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`
}

const set = (id, text) => {
  if ($(id).textContent !== text) $(id).textContent = text
}

function show() {
  const s = last
  document.title = `${Math.floor(100 * s.part)} % – ${s.title}`
  set("title", s.title)
  set("subtitle", s.subtitle)
  set("stage", s.end ? "" : s.stopping ? "Stopping …" : s.stage)
  $("bar").value = s.part
  set("part", `${Math.floor(100 * s.part)} % done`)
  set("left", s.left === undefined ? "" : `about ${duration(s.left)} left`)
  set("seconds", `${duration(s.seconds)} so far`)
  set("stop", s.stop)
  $("stop").hidden = Boolean(s.end)
  $("stop").disabled = s.stopping
  $("end").hidden = !s.end
  if (s.end) {
    $("end").className = s.end.good ? "end" : "end bad"
    set("end", s.end.text)
  }
  if (s.look) look(s.look)
  const groups = Map.groupBy(s.trainings, t => t.group)
  for (const [name, all] of groups) draw(name, all)
}

const charts = new Map()

// look shows a picture that grows, facts and curves.
function look(l) {
  $("look").hidden = false
  const at = `picture.png?${l.picture}`
  if (l.picture > 0 && $("picture").getAttribute("src") !== at) $("picture").src = at
  $("picture").alt = l.alt
  set("picture-title", l.title + ".")
  set("picture-caption", l.caption)
  if ($("facts").childElementCount !== l.facts.length) $("facts").replaceChildren(...l.facts.map(f => html("div", {}, html("dt", {}, f.name), html("dd"))))
  l.facts.forEach((f, i) => {
    const [name, value] = $("facts").children[i].children
    if (name.textContent !== f.name) name.textContent = f.name
    if (value.textContent !== f.value) value.textContent = f.value
  })
  for (const c of l.curves) {
    if (!charts.has(c.title)) {
      charts.set(c.title, figure(c.title))
      $("figures").append(charts.get(c.title).element)
    }
    const fig = charts.get(c.title)
    fig.element.hidden = !(c.at?.length > 1)
    if (!fig.element.hidden) fig.show(curve(fig.width(), c), c.caption)
  }
}

// curve draws one line from 0 upwards.
function curve(width, c) {
  const height = 200, left = 52, bottom = height - 34
  const x = scale(c.at[0], c.at.at(-1), left, width - 10), y = scale(0, 1.08 * Math.max(...c.of) || 1, bottom, 8)
  const out = canvas(width, height, `${c.title}, by ${c.x}: ${round(Math.min(...c.of))} to ${round(Math.max(...c.of))}`)
  out.append(svg("path", { d: path(c.at.map((v, i) => [x(v), y(c.of[i])])), fill: "none", ...stroke(0) }))
  xAxis(out, x, bottom, width / 90, v => round(v))
  yAxis(out, y, left, 4, v => round(v, 3))
  out.append(label(width - 10, height - 2, c.x, { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 }))
  return out
}

const places = new Map()

// draw shows a group of trainings: their curves, and a line for each.
function draw(name, all) {
  if (!places.has(name)) {
    const fig = figure(name)
    const body = html("tbody")
    const table = html("section", {}, html("h2", {}, name), html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name },
      html("table", {}, html("thead", {}, html("tr", {}, ...["training", "done", "score"].map((t, i) => html("th", { scope: "col", class: i === 2 ? "n" : false }, t)))), body)))
    $("figures").append(fig.element)
    $("tables").append(table)
    places.set(name, { fig, body, lines: new Map() })
  }
  const { fig, body, lines } = places.get(name)
  const scored = all.some(t => t.curve?.length > 0) // and lower is better
  const scores = alike(all.map(t => t.score ?? NaN), 4)
  const best = all.filter(t => scored && t.score !== undefined && t.score !== null).reduce((a, b) => (a && a.score <= b.score ? a : b), null)
  for (const [i, t] of all.entries()) {
    if (!lines.has(t.name)) {
      const swatch = svg("svg", { width: 26, height: 8, class: "swatch", "aria-hidden": "true" }, svg("line", { x1: 0, x2: 22, y1: 4, y2: 4, ...stroke(i) }))
      const cells = { swatch, bar: html("progress", { max: 1, "aria-label": "done" }), score: html("td", { class: "n" }), label: html("span") }
      const row = html("tr", {}, html("th", { scope: "row" }, swatch, cells.label), html("td", {}, cells.bar), cells.score)
      lines.set(t.name, { ...cells, row })
      body.append(row)
    }
    const l = lines.get(t.name)
    l.label.textContent = t.label + (t.note ? ` (${t.note})` : "")
    l.label.className = t.state === "failed" ? "failed" : ""
    l.bar.value = t.part
    l.score.textContent = t.state === "failed" ? "failed" : t.state === "waiting" ? "waiting" : scores[i]
    l.row.className = t === best ? "best" : ""
  }
  fig.element.hidden = !scored
  if (!scored) return
  const held = all.some(t => t.curve?.some(p => p.held !== undefined))
  const score = `${last.score}, on ${held ? "held-out" : "training"} rows; lower is better`
  fig.show(picture(fig.width(), name, all, score, held), score + ".")
}

// picture draws the curves of trainings: of held-out rows where they are scored,
// otherwise of training rows.
function picture(width, name, all, score, held) {
  const height = 250, left = 52, bottom = height - 34
  const value = p => (held ? p.held : p.train)
  const lines = all.map(t => (t.curve ?? []).map(p => [p.step, value(p)]).filter(([, v]) => v !== undefined && v !== null))
  const values = lines.flat().map(([, v]) => v).sort((a, b) => a - b)
  if (values.length === 0) return canvas(width, height, name)
  // The first scores of a training can be far above all later ones.
  const top = Math.min(values.at(-1), values[Math.floor(0.9 * (values.length - 1))] + 2 * (values[Math.floor(0.5 * values.length)] - values[0]) + 0.1)
  const margin = 0.06 * (top - values[0]) || 0.5
  const x = scale(0, Math.max(...lines.flat().map(([s]) => s)), left, width - 10), y = scale(values[0] - margin, top + margin, bottom, 8)
  const out = canvas(width, height, `${name}, ${score}, after steps: ` + all.map((t, i) => `${t.label} ${round(lines[i].at(-1)?.[1])}`).join("; "))
  const clip = "clip-" + name.replace(/\W+/g, "-")
  out.append(svg("clipPath", { id: clip }, svg("rect", { x: left, y: 0, width: width - left, height: bottom })))
  lines.forEach((points, i) => {
    const at = points.map(([s, v]) => [x(s), y(v)])
    if (at.length > 1) out.append(svg("path", { d: path(at), fill: "none", ...stroke(i), "clip-path": `url(#${clip})` }))
    for (const [px, py] of at.slice(-1)) if (py >= 0) out.append(svg("circle", { cx: px, cy: py, r: 3, fill: stroke(i).stroke }))
  })
  xAxis(out, x, bottom, width / 90, v => round(v), true)
  yAxis(out, y, left, 5, v => round(v, 3))
  out.append(label(width - 10, height - 2, "step", { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 }))
  return out
}

let resized
addEventListener("resize", () => {
  clearTimeout(resized)
  resized = setTimeout(() => last && show(), 100)
})
