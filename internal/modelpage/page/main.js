// The page: chooses a model, keeps the values of its inputs, shows what they predict.

import * as api from "./api.js"
import * as charts from "./charts.js"
import { columnsOf, rowOf } from "./columns.js"
import { controls } from "./controls.js"
import { dataURL, image } from "./image.js"
import { predictFile } from "./rows.js"
import { figure, html } from "./svg.js"
import { beside, measured, percent, round } from "./text.js"
import * as whatif from "./whatif.js"

const $ = id => document.getElementById(id)
const most = 60 // columns that have a control each

let model, columns, values, setValue, drawing
let level = 0.9, target = 0
let figures = {}, last = null
let blocked = "" // why the present inputs have no prediction

function complain(e) {
  const asks = e?.status === 401
  $("alert").hidden = !e || asks && !api.hasToken()
  $("alert").textContent = asks ? "This is not the token of this server." : e ? e.message : ""
  $("token").hidden = !asks
  if (!asks) return
  if (!model) $("subtitle").textContent = "This server asks for a token."
  $("token").querySelector("[name=token]").focus()
}

// block says why the present inputs have no prediction; that of earlier ones is then dimmed.
function block(why) {
  blocked = why
  for (const id of ["prediction", "whatif-section"]) $(id).classList.toggle("stale", why !== "")
  if (why) $("headline").replaceChildren(`${model.targets[target].name}: `, html("b", {}, "–"), html("small", {}, why))
}

// attempt runs an action and shows what went wrong, until the next one that goes well.
const attempt = f => async (...args) => {
  try {
    await f(...args)
    complain(null)
  } catch (e) {
    complain(e)
  }
}

const begin = attempt(async () => {
  if (api.inside) $("where").textContent = "The file stays in this browser; no server is asked."
  const all = await api.models()
  $("model").replaceChildren(...all.map(m => html("option", { value: m.name }, m.name)))
  $("choose").hidden = all.length < 2 && all[0].versions.length < 2
  const wanted = decodeURIComponent(location.hash.slice(1))
  const first = all.find(m => m.name === wanted) ?? all[0]
  $("model").value = first.name
  open(first)
})

function open(m) {
  model = m
  columns = columnsOf(m)
  values = Object.fromEntries(columns.map(c => [c.name, c.typical]))
  target = 0
  last = null
  blocked = ""
  drawing = null
  refuseFile("")
  $("main").hidden = false
  $("versions").hidden = m.versions.length < 2
  $("version").replaceChildren(...m.versions.map(v => html("option", { value: v }, v)))
  $("version").value = m.version
  const names = m.targets.map(t => t.name).join(", ")
  document.title = `${m.name} – utvi`
  $("title").textContent = m.name
  $("subtitle").textContent = pictured(m) ? `Predicts ${names} from an image${columns.length > 1 ? ` and ${columns.length - 1} other column${columns.length > 2 ? "s" : ""}` : ""}.` : m.kind === "table" ? `Predicts ${names} from ${columns.filter(c => !c.std_of).length} columns.` : `A network of ${m.input.size} inputs that predicts ${m.task === "classification" ? m.targets[0].levels.length + " classes" : names}.`
  const facts = [["task", m.task], ["networks", m.networks], ["training rows", m.rows], ["calibrated", m.calibrated ? "yes" : "no"], ["version", m.version]]
  $("facts").replaceChildren(...facts.filter(([, v]) => v !== undefined).map(([k, v]) => html("div", {}, html("dt", {}, k), html("dd", {}, String(v)))))
  $("rows").replaceChildren()
  $("progress").textContent = ""
  inputs()
  options()
  frames()
  update()
}

// pictured is the column of images of a table, undefined if it has none.
const pictured = m => m.kind === "table" ? m.columns.find(c => c.type === "image") : undefined

// isImage reports whether the inputs of the networks are the points of an image.
const isImage = m => pictured(m) || m.kind === "network" && m.input.shape[0] > 1 && m.input.shape[1] > 1 && [1, 3].includes(m.input.shape[2])

function inputs() {
  $("file-section").hidden = false
  if (isImage(model)) {
    $("file-section").hidden = true
    const column = pictured(model)
    const others = column ? columns.filter(c => c.type !== "image") : []
    const [picture, beside] = [html("div"), html("div")]
    $("controls").replaceChildren(picture, beside)
    if (others.length > 0) setValue = controls(beside, model, others, values, update)
    drawing = image(picture, model.input.shape, (pixels, file) => {
      if (column) {
        values[column.name] = file ?? dataURL(pixels, model.input.shape)
        return update()
      }
      columns.forEach((c, i) => { values[c.name] = pixels[i] })
      update()
    }, column !== undefined)
    return
  }
  if (columns.length > most) {
    const area = html("textarea", { rows: 8, "aria-label": "Values of the inputs, with commas between them" })
    area.value = columns.map(c => values[c.name]).join(", ")
    area.addEventListener("input", () => {
      const all = area.value.split(/[\s,;]+/).filter(s => s)
      columns.forEach((c, i) => { values[c.name] = c.type === "categorical" ? all[i] : finite(all[i]) })
      update()
      if (all.length !== columns.length) block(`There are ${all.length} values; the model has ${columns.length} inputs.`)
    })
    $("controls").replaceChildren(area)
    return
  }
  const reset = html("button", { type: "button", onclick: () => columns.forEach(c => setValue(c.name, c.typical)) }, "Typical row")
  setValue = controls($("controls"), model, columns, values, update)
  $("controls").append(reset)
}

const finite = text => (text !== undefined && Number.isFinite(Number(text)) ? Number(text) : undefined)

function options() {
  const all = []
  if (model.targets.length > 1) {
    const select = html("select", { onchange: () => { target = Number(select.value); frames(); show() } }, ...model.targets.map((t, i) => html("option", { value: i }, t.name)))
    all.push(html("label", {}, "Target", select))
  }
  if (model.task === "regression") {
    const out = html("output", {}, percent(level))
    const range = html("input", { type: "range", min: 50, max: 99, step: 1, value: 100 * level, "aria-label": "Level of the interval in per cent", oninput: () => {
      level = range.valueAsNumber / 100
      out.textContent = percent(level)
      update()
    } })
    all.push(html("label", {}, "Interval", range, out))
  }
  $("options").replaceChildren(...all)
}

// frames makes an empty figure for each picture of the model.
function frames() {
  figures = {}
  const t = model.targets[target]
  const add = (key, title) => (figures[key] = figure(title)).element
  const place = $("figures")
  if (model.task === "regression") {
    place.replaceChildren(add("density", `Density of ${t.name}`), html("div", { class: "pair" }, add("variance", "Where the variance comes from"), add("gauge", "Out of distribution (ood)")))
  } else {
    place.replaceChildren(add("classes", `Probabilities of ${t.name}`), html("div", { class: "pair" }, add("gauge", "Out of distribution (ood)")))
  }
  const curves = !isImage(model) && columns.length <= most
  $("whatif-section").hidden = !curves
  $("whatif").replaceChildren()
  if (!curves) return
  place.append(add("drivers", "Which columns drive this prediction"))
  $("whatif").append(...columns.slice(0, whatif.mostColumns).map(c => add("at " + c.name, c.name)))
}

// update asks for the prediction of the present inputs.
function update() {
  const empty = columns.filter(c => values[c.name] === undefined).map(c => c.name)
  if (empty.length > 0) return block(`${empty.slice(0, 3).join(", ")}${empty.length > 3 ? " …" : ""}: a number is needed.`)
  for (const id of ["prediction", "whatif-section"]) $(id).classList.add("waiting")
  ask()
}

const ask = api.latest(attempt(async () => {
  if (columns.some(c => values[c.name] === undefined)) return
  const asked = model
  const mine = { ...values }
  const o = model.task === "regression" ? { interval: level } : {}
  const now = api.predict(model, [rowOf(model, columns, mine)], model.task === "regression" ? { ...o, density: 96 } : {})
  let curves = null, along = null
  if (!isImage(model) && columns.length <= most) {
    curves = whatif.questions(model, columns, mine)
    along = api.predict(model, curves.rows, o)
  }
  let answers
  try {
    answers = await Promise.all([now, along])
  } catch (e) {
    if (asked === model) block(e.message)
    throw e
  }
  if (asked !== model) return
  const old = columns.some(c => !Object.is(values[c.name], mine[c.name]))
  if (old && columns.some(c => values[c.name] === undefined)) return
  block("")
  for (const id of ["prediction", "whatif-section"]) $(id).classList.toggle("waiting", old)
  last = { values: mine, prediction: answers[0].predictions[0], curves: curves?.curves, along: answers[1]?.predictions }
  show()
}))

// show draws the last answer.
function show() {
  if (!last) return
  const t = model.targets[target]
  const p = last.prediction.targets[t.name]
  const ood = last.prediction.ood
  const put = (key, draw, text) => figures[key].show(draw(figures[key].width()), text)
  const known = ood === undefined ? "" : ` This row is ${charts.likeness(ood)}.`
  if (model.task === "regression") {
    const [mean, std] = measured(p.mean, p.std)
    const interval = p.interval ? `${percent(level)} interval: ${beside(p.interval[0], p.std)} to ${beside(p.interval[1], p.std)}.` : ""
    $("headline").replaceChildren(`${t.name}: `, html("b", {}, `${mean} ± ${std}`), html("small", {}, interval + known))
    put("density", w => charts.density(w, t, p, level), (p.interval ? `Shaded: the ${percent(level)} interval. ` : "") + (t.histogram ? "Grey: the training rows, not to the same scale." : ""))
    put("variance", w => charts.variance(w, p.variance), `Standard deviation ${std}.`)
  } else {
    const best = p.probabilities[p.class]
    $("headline").replaceChildren(`${t.name}: `, html("b", {}, p.class), ` with ${percent(best)}`, html("small", {}, `Entropy ${round(p.entropy, 3)} nats.` + known))
    put("classes", w => charts.classes(w, t, p), t.histogram ? "Marks: shares of the training rows." : "")
  }
  figures.gauge.element.hidden = ood === undefined
  if (ood !== undefined) put("gauge", w => charts.gauge(w, ood), "99 of 100 training rows are below 1; above 1: unlike them.")
  if (last.curves) curves(t, p)
  if (blocked) block(blocked)
}

function curves(t, p) {
  const cls = model.task === "classification" ? p.class : null
  const all = whatif.answered(last.curves, last.along, t, cls)
  const range = whatif.rangeOf(all, cls !== null)
  const what = cls === null ? t.name : `the probability of ${cls}`
  $("whatif-lead").textContent = `How ${what} changes if one column changes and the others stay. ${cls === null ? `Bands: the ${percent(level)} interval. ` : ""}A click in a picture sets the value.` + (columns.length > whatif.mostColumns ? ` The first ${whatif.mostColumns} of ${columns.length} columns are shown.` : "")
  for (const c of all) {
    const f = figures["at " + c.column.name]
    f.show(whatif.draw(f.width(), c, range, last.values, { name: what }, (name, v) => setValue(name, v)), "")
  }
  const effects = whatif.effects(all, last.values, cls === null ? p.mean : p.probabilities[cls])
  const unit = cls === null ? t.name : `probability of ${cls}`
  figures.drivers.show(charts.drivers(figures.drivers.width(), effects, unit), "Each bar: the difference to the mean over the column’s training values, all other columns as they are.")
}

// refuseFile says below the place for files what is wrong with one.
function refuseFile(why) {
  $("file-alert").hidden = why === ""
  $("file-alert").textContent = why
  if (why) $("progress").textContent = ""
}

async function take(file) {
  if (!file) return
  refuseFile("")
  if (drawing) return attempt(async () => {
    if (!file.type.startsWith("image/")) throw new Error(`${file.name} is no image; this network takes an image.`)
    await drawing.load(file)
  })()
  try {
    await predictFile(file, model, columns, level, $("rows"), text => { $("progress").textContent = text })
  } catch (e) {
    refuseFile(e.message)
    if (e.status === 401) complain(e)
  }
}

document.addEventListener("paste", e => {
  const file = [...e.clipboardData.files].find(f => f.type.startsWith("image/"))
  if (!drawing || !file) return
  e.preventDefault()
  take(file)
})

$("inputs").addEventListener("submit", e => e.preventDefault())
$("token").addEventListener("submit", e => {
  e.preventDefault()
  api.setToken(new FormData(e.target).get("token"))
  begin()
})
$("model").addEventListener("change", attempt(async () => {
  const m = await api.model($("model").value)
  location.hash = encodeURIComponent(m.name)
  open(m)
}))
$("version").addEventListener("change", attempt(async () => open(await api.model(model.name, $("version").value))))
$("file").addEventListener("change", () => {
  take($("file").files[0])
  $("file").value = ""
})
for (const type of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(type, e => {
    e.preventDefault()
    document.body.classList.toggle("dragging", type === "dragenter" || type === "dragover")
    if (type !== "drop") return
    if (!drawing) $("file-section").scrollIntoView({ block: "start" })
    take(e.dataTransfer.files[0])
  })
}
let resized
addEventListener("resize", () => {
  clearTimeout(resized)
  resized = setTimeout(show, 100)
})
begin()
