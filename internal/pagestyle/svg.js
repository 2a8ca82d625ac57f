// Drawing: elements of SVG, axes, figures that can be saved.

const space = "http://www.w3.org/2000/svg"

export function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS(space, tag)
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, typeof v === "number" ? +v.toFixed(2) : v)
  e.append(...children)
  return e
}

export function html(tag, attributes = {}, ...children) {
  const e = document.createElement(tag)
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v)
    else if (v === true) e.setAttribute(k, "")
    else if (v !== false && v !== undefined && v !== null) e.setAttribute(k, v)
  }
  e.append(...children)
  return e
}

export const label = (x, y, text, more = {}) => svg("text", { x, y, "font-size": 12, fill: "var(--ink)", ...more }, text)

// halo keeps a label readable on whatever lies below it.
export const halo = { "paint-order": "stroke", stroke: "var(--paper)", "stroke-width": 3.5, "stroke-linejoin": "round" }

// scale maps [a, b] to [from, to].
export function scale(a, b, from, to) {
  if (!(b > a)) [a, b] = [a - 0.5, a + 0.5]
  const f = v => from + (v - a) / (b - a) * (to - from)
  f.invert = p => a + (p - from) / (to - from) * (b - a)
  f.domain = [a, b]
  return f
}

// ticks are about n round numbers from a to b, or whole ones.
export function ticks(a, b, n, whole = false) {
  const raw = Math.max((b - a) / Math.max(1, n), whole ? 1 : 0)
  const power = 10 ** Math.floor(Math.log10(raw))
  const steps = [0.5, 1, 2, 5, 10].map(k => k * power)
  const at = Math.max(1, steps.findIndex(s => s >= raw))
  const all = multiples(a, b, steps[at])
  return all.length < 2 && n > 1 && !whole ? multiples(a, b, steps[at - 1]) : all
}

function multiples(a, b, step) {
  const all = []
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b + 1e-9 * step; i++) all.push(i * step)
  return all
}

// canvas is an empty picture with room for axes, described for those who cannot see it.
export function canvas(width, height, description) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, style: `max-width:${width}px`, role: "img", "aria-label": description, "font-family": '"Liberation Sans", Arial, Helvetica, sans-serif' })
}

// even gives the numbers of an axis the same decimals, 0 aside.
export function even(texts) {
  const behind = t => (t.split(".")[1] ?? "").length
  const most = Math.max(0, ...texts.map(behind))
  if (most === 0 || !texts.every(t => /^−?\d+(\.\d+)?$/.test(t))) return texts
  return texts.map(t => (t === "0" ? t : t + (behind(t) === 0 ? "." : "") + "0".repeat(most - behind(t))))
}

// xAxis has about as many marks as count says, or those of a list.
export function xAxis(to, x, y, count, text, whole = false) {
  const [a, b] = x.domain
  to.append(svg("line", { x1: x(a), x2: x(b), y1: y, y2: y, stroke: "var(--ink)", "stroke-width": 0.8 }))
  const marks = Array.isArray(count) ? count : ticks(a, b, count, whole), texts = even(marks.map(v => text(v)))
  for (const [i, t] of marks.entries()) {
    to.append(svg("line", { x1: x(t), x2: x(t), y1: y, y2: y + 4, stroke: "var(--ink)", "stroke-width": 0.8 }))
    to.append(label(x(t), y + 17, texts[i], { "text-anchor": "middle", "font-size": 11 }))
  }
}

export function yAxis(to, y, x, count, text) {
  const [a, b] = y.domain
  to.append(svg("line", { x1: x, x2: x, y1: y(a), y2: y(b), stroke: "var(--ink)", "stroke-width": 0.8 }))
  const marks = ticks(a, b, count), texts = even(marks.map(v => text(v)))
  for (const [i, t] of marks.entries()) {
    to.append(svg("line", { x1: x - 4, x2: x, y1: y(t), y2: y(t), stroke: "var(--ink)", "stroke-width": 0.8 }))
    to.append(label(x - 7, y(t) + 4, texts[i], { "text-anchor": "end", "font-size": 11 }))
  }
}

export const path = points => "M" + points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")

// figure is a frame for a picture, with a title, a caption and buttons that save it.
export function figure(title) {
  const art = html("div", { class: "art" })
  const caption = html("p", {}, html("b", {}, title), html("span"))
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "figure"
  const save = html("span", { class: "save" },
    html("button", { type: "button", "aria-label": `Save “${title}” as SVG`, onclick: () => saveSVG(art.firstChild, name) }, "SVG"), " ",
    html("button", { type: "button", "aria-label": `Save “${title}” as PNG`, onclick: () => savePNG(art.firstChild, name) }, "PNG"))
  const element = html("figure", { class: "picture" }, art, html("figcaption", {}, caption, save))
  return {
    element,
    width: () => Math.max(240, Math.round(art.clientWidth || 600)),
    show(picture, text) {
      art.replaceChildren(picture)
      caption.lastChild.textContent = text ? ". " + text : ""
    },
  }
}

// standalone is a picture as a file: its colours no longer depend on this page.
export function standalone(picture) {
  const copy = picture.cloneNode(true)
  const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number)
  copy.setAttribute("xmlns", space)
  copy.prepend(svg("rect", { width, height, fill: "var(--paper)" }))
  const style = getComputedStyle(document.documentElement)
  const text = new XMLSerializer().serializeToString(copy).replace(/var\((--[a-z-]+)\)/g, (_, name) => style.getPropertyValue(name).trim())
  return { text, width, height }
}

const saveSVG = (picture, name) => download(new Blob([standalone(picture).text], { type: "image/svg+xml" }), name + ".svg")

async function savePNG(picture, name) {
  const { text, width, height } = standalone(picture)
  const image = new Image()
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  image.src = url
  await image.decode()
  const to = html("canvas", { width: 3 * width, height: 3 * height })
  to.getContext("2d").drawImage(image, 0, 0, 3 * width, 3 * height)
  URL.revokeObjectURL(url)
  to.toBlob(blob => download(blob, name + ".png"), "image/png")
}

export function download(blob, name) {
  const url = URL.createObjectURL(blob)
  const a = html("a", { href: url, download: name })
  a.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
