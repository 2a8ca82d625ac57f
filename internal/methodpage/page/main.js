// The page: controls, questions to the program, the answer drawn.

import { colours, sweep, through } from "./charts.js"
import { figure, html } from "./svg.js"
import { alike, percent } from "./text.js"

const functions = ["leaky-relu(0.1)", "relu", "tanh", "gelu", "sigmoid", "softplus", "sin", "square", "abs", "x / (1 + x^2)", "where(x > 0, 1, 0)"]

// Each rule: its name for people, a note, and its parameters with [name, start, from, to, step].
const rules = {
  ut: ["unscented transform", "Three points: the mean, and one on each side at √(1 + κ) standard deviations.", [["κ", 2, 0, 6, 0.1]]],
  gh: ["Gauss–Hermite", "More points see kinks and tails that three miss.", [["points", 5, 2, 32, 1]]],
  genut: ["generalised unscented", "Three points for an input with skewness and heavier tails; here the input is Normal.", [["skewness", 0, -2, 2, 0.1], ["kurtosis", 3, 1.1, 9, 0.1]]],
  mc: ["Monte Carlo", "Random points, all with the same weight.", [["samples", 10, 2, 2000, 1]]],
  linear: ["linearisation", "The slope at the mean alone.", []],
  exact: ["closed form", "A formula for the moments, where one is known.", []],
}

const $ = id => document.getElementById(id)
const state = { mean: 0.5, std: 1, seed: 1, parameters: [] }

// number is a labelled number with a slider.
function number(name, start, from, to, step, changed) {
  const id = "n-" + name.replace(/\W/g, (c) => c.codePointAt(0))
  const slider = html("input", { type: "range", min: from, max: to, step, value: start, "aria-label": name, oninput: e => set(e.target.value) })
  const box = html("input", { type: "number", id, min: from, max: to, step: "any", value: start, oninput: e => set(e.target.value) })
  function set(text) {
    const v = Number(text)
    const fits = text !== "" && v >= from && v <= to
    box.setAttribute("aria-invalid", !fits)
    if (!fits) return
    if (Number(slider.value) !== v) slider.value = v
    if (Number(box.value) !== v) box.value = v
    changed(v)
  }
  return html("div", {}, html("div", { class: "line" }, html("label", { for: id }, name), box), slider)
}

function showRule() {
  const [, note, parameters] = rules[$("rule").value]
  $("rule-note").textContent = note
  state.parameters = parameters.map(([, start]) => start)
  $("parameters").replaceChildren(...parameters.map(([name, start, from, to, step], i) =>
    number(name, start, from, to, step, v => { state.parameters[i] = step === 1 ? Math.round(v) : v; ask() })))
  if ($("rule").value === "mc") {
    $("parameters").append(html("div", { class: "line" }, html("button", { type: "button", onclick: () => { state.seed++; ask() } }, "Draw again")))
  }
}

function showChips() {
  for (const b of $("chips").children) b.setAttribute("aria-pressed", b.textContent === $("function").value)
}

const picture = figure("From input to output")
const means = figure("Mean of the output")
const stds = figure("Standard deviation of the output")

let waiting = 0
// ask waits for the end of a burst of changes; what takes longest comes last.
function ask() {
  clearTimeout(waiting)
  waiting = setTimeout(() => {
    answer(false)
    waiting = setTimeout(() => answer(true), 120)
  }, 15)
}

function answer(all) {
  const kind = $("rule").value
  const q = { function: $("function").value.trim(), rule: kind + (state.parameters.length ? `(${state.parameters.join(",")})` : ""), mean: state.mean, std: state.std, seed: state.seed, sweep: all }
  const a = JSON.parse(utviMoments(JSON.stringify(q)))
  const head = $("headline")
  head.classList.toggle("refused", Boolean(a.error))
  document.querySelector(".results").classList.toggle("stale", Boolean(a.error))
  $("function").setAttribute("aria-invalid", Boolean(a.error))
  if (a.error) {
    head.textContent = a.error[0].toUpperCase() + a.error.slice(1) + "."
    return
  }
  const [mean, std, exactMean, exactStd] = alike([a.rule.mean, a.rule.std, a.exact.mean, a.exact.std], 4)
  head.replaceChildren(html("b", {}, `${mean} ± ${std}`), ` by ${rules[kind][0]}, exactly ${exactMean} ± ${exactStd}: `, verdict(a))
  numbers(q, a)
  picture.show(through(picture.width(), q.function, q, a), (a.points?.length ?? 0) === 0 ? "This rule has no points." : "The area of a point is its weight; the Normal that the rule makes is drawn beside the exact density.")
  if (all && a.sweep) {
    means.show(sweep(means.width(), q, a, "mean", "Mean"), "For other means of the input; thick: exact, thin: the rule.")
    stds.show(sweep(stds.width(), q, a, "std", "Standard deviation"), "Where the curves part, the rule is blind or misled.")
  }
}

// verdict says in words what the rule does to the standard deviation.
function verdict(a) {
  if (!(a.exact.std > 0)) return a.rule.std > 0 ? "it sees a spread where there is none." : "nothing varies."
  const off = a.rule.std / a.exact.std - 1
  if (Math.abs(off) < 0.0005) return "the standard deviation is right."
  return `the standard deviation is ${percent(Math.abs(off))} too ${off < 0 ? "small" : "large"}.`
}

function numbers(q, a) {
  const key = (name, colour) => html("th", { scope: "row" }, html("span", { class: "key", style: `background:${colour}` }), name)
  const cell = text => html("td", { class: "n" }, text)
  const all = [q, a.exact, a.rule], means = alike(all.map(m => m.mean), 6), stds = alike(all.map(m => m.std), 6)
  const row = (name, colour, i) => html("tr", {}, key(name, colour), cell(means[i]), cell(stds[i]))
  $("numbers").replaceChildren(
    html("caption", { hidden: true }, "Moments"),
    html("thead", {}, html("tr", {}, html("td"), html("th", { class: "n", scope: "col" }, "mean"), html("th", { class: "n", scope: "col" }, "standard deviation"))),
    html("tbody", {}, row("input", colours.input, 0), row("output, exact", colours.exact, 1), row("output, by the rule", colours.rule, 2)))
}

async function start() {
  $("functions").append(...functions.map(f => html("option", { value: f })))
  $("chips").append(...functions.map(f => html("button", { type: "button", onclick: () => { $("function").value = f; showChips(); ask() } }, f)))
  $("rule").append(...Object.entries(rules).map(([k, [name]]) => html("option", { value: k }, name)))
  $("normal").append(
    number("mean", state.mean, -5, 5, 0.01, v => { state.mean = v; ask() }),
    number("standard deviation", state.std, 0, 5, 0.01, v => { state.std = v; ask() }))
  $("figures").append(picture.element, stds.element, means.element)
  showRule()
  showChips()
  $("inputs").addEventListener("submit", e => e.preventDefault())
  $("rule").addEventListener("input", () => { showRule(); ask() })
  $("function").addEventListener("input", () => { showChips(); ask() })
  addEventListener("resize", ask)
  try {
    await utviReady
  } catch (e) {
    $("headline").classList.add("refused")
    $("headline").textContent = "This browser cannot run the page's program: " + e.message
    return
  }
  answer(true)
}

start()
