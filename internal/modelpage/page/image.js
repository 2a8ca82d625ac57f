// An image as the input of a network: drawn, or from a file.

import { html } from "./svg.js"

// image fills a place with a drawing area of the network's shape. change is called with
// its numbers, from 0 (background) to 1 (ink), row by row, whenever they change. With whole, it
// is also called with a chosen file in base64, which the model reads itself; the area then shows
// about what it sees.
export function image(place, [height, width, channels], change, whole = false) {
  const pixels = new Float32Array(height * width * channels)
  const area = html("canvas", { class: "canvas", width, height, tabindex: 0, role: "application", "aria-label": `Drawing area of ${width} by ${height} points. The arrow keys move the pen, space draws, delete erases.` })
  const where = html("span", { class: "note", role: "status" })
  const to = area.getContext("2d")
  const pen = { x: width / 2, y: height / 2, shown: false }

  function show() {
    const out = to.createImageData(width, height)
    for (let i = 0; i < width * height; i++) {
      for (let c = 0; c < 3; c++) out.data[4 * i + c] = 255 * pixels[i * channels + Math.min(c, channels - 1)]
      out.data[4 * i + 3] = 255
    }
    to.putImageData(out, 0, 0)
    if (!pen.shown) return
    to.strokeStyle = "#E69F00"
    to.lineWidth = Math.max(0.5, width / 56)
    to.strokeRect(Math.floor(pen.x), Math.floor(pen.y), 1, 1)
  }

  function changed() {
    show()
    change(Array.from(pixels))
  }

  // ink puts a soft dot of the pen at a place.
  function ink(x, y, erase) {
    const r = Math.max(1, width / 12)
    for (let i = Math.max(0, Math.floor(y - r)); i <= Math.min(height - 1, y + r); i++) {
      for (let j = Math.max(0, Math.floor(x - r)); j <= Math.min(width - 1, x + r); j++) {
        const v = Math.min(1, Math.max(0, 1.6 * (1 - Math.hypot(i + 0.5 - y, j + 0.5 - x) / r)))
        for (let c = 0; c < channels; c++) {
          const k = (i * width + j) * channels + c
          pixels[k] = erase ? Math.min(pixels[k], 1 - v) : Math.max(pixels[k], v)
        }
      }
    }
  }

  let last = null
  const at = e => {
    const box = area.getBoundingClientRect()
    return [(e.clientX - box.left) * width / box.width, (e.clientY - box.top) * height / box.height]
  }
  area.addEventListener("pointerdown", e => {
    area.setPointerCapture(e.pointerId)
    last = at(e)
    pen.shown = false
    ink(...last, e.button === 2 || e.shiftKey)
    changed()
  })
  area.addEventListener("pointermove", e => {
    if (!last) return
    const [x, y] = at(e), steps = Math.ceil(2 * Math.hypot(x - last[0], y - last[1])) || 1
    for (let i = 1; i <= steps; i++) ink(last[0] + (x - last[0]) * i / steps, last[1] + (y - last[1]) * i / steps, e.shiftKey)
    last = [x, y]
    changed()
  })
  area.addEventListener("pointerup", () => { last = null })
  area.addEventListener("blur", () => {
    pen.shown = false
    show()
  })
  area.addEventListener("keydown", e => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key]
    if (!move && e.key !== " " && e.key !== "Delete" && e.key !== "Backspace") return
    e.preventDefault()
    if (move) {
      pen.x = Math.min(width - 0.5, Math.max(0.5, pen.x + move[0]))
      pen.y = Math.min(height - 0.5, Math.max(0.5, pen.y + move[1]))
    }
    if (e.key === " " || move && e.shiftKey) ink(pen.x, pen.y, false)
    if (e.key === "Delete" || e.key === "Backspace") ink(pen.x, pen.y, true)
    pen.shown = true
    where.textContent = `Pen at column ${Math.floor(pen.x) + 1}, row ${Math.floor(pen.y) + 1}.`
    changed()
  })

  // load takes an image file: scaled to the shape, ink on a dark background.
  async function load(file) {
    const bitmap = await createImageBitmap(file)
    const small = html("canvas", { width, height }).getContext("2d", { willReadFrequently: true })
    small.fillStyle = "#fff"
    small.fillRect(0, 0, width, height)
    small.imageSmoothingQuality = "high"
    small.drawImage(bitmap, 0, 0, width, height)
    const { data } = small.getImageData(0, 0, width, height)
    for (let i = 0; i < width * height; i++) {
      const [r, g, b] = data.slice(4 * i, 4 * i + 3)
      const grey = 0.299 * r + 0.587 * g + 0.114 * b
      for (let c = 0; c < channels; c++) pixels[i * channels + c] = (channels === 3 ? data[4 * i + c] : grey) / 255
    }
    if (whole) {
      show()
      change(Array.from(pixels), await base64(file))
      return
    }
    if (channels === 1 && border() > 0.5) invert()
    changed()
  }
  function border() {
    let sum = 0
    for (let j = 0; j < width; j++) sum += pixels[j] + pixels[(height - 1) * width + j]
    return sum / (2 * width)
  }
  function invert() {
    pixels.forEach((v, i) => { pixels[i] = 1 - v })
  }

  // camera shows what a camera sees, until a picture is taken.
  async function camera() {
    let stream
    try {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } })
    } catch (e) {
      where.textContent = `The camera cannot be used: ${e.message}.`
      return
    }
    const video = html("video", { class: "camera", "aria-label": "What the camera sees" })
    video.muted = true
    video.playsInline = true
    video.srcObject = stream
    const end = () => {
      stream.getTracks().forEach(t => t.stop())
      view.remove()
      open.disabled = false
    }
    const shot = async () => {
      const still = html("canvas", { width: video.videoWidth, height: video.videoHeight })
      still.getContext("2d").drawImage(video, 0, 0)
      end()
      await load(await new Promise(done => still.toBlob(done, "image/png")))
    }
    const view = html("div", { role: "group", "aria-label": "Camera" }, video,
      html("div", { class: "buttons" }, html("button", { type: "button", onclick: shot }, "Take the picture"), html("button", { type: "button", onclick: end }, "Close the camera")))
    open.disabled = true
    buttons.after(view)
    await video.play()
  }
  const open = html("button", { type: "button", onclick: camera }, "Camera")
  open.hidden = !navigator.mediaDevices
  const file = html("input", { type: "file", accept: "image/*", onchange: () => file.files[0] && load(file.files[0]) })
  const buttons = html("div", { class: "buttons" },
    html("button", { type: "button", onclick: () => { pixels.fill(0); pen.shown = false; changed() } }, "Clear"),
    html("button", { type: "button", onclick: () => { invert(); changed() } }, "Invert"),
    html("label", { class: "button" }, "Choose an image", file), open)
  place.replaceChildren(
    area,
    buttons,
    html("p", { class: "note" }, `Draw with the pointer (with shift it erases), drop or paste an image. The network sees ${width} × ${height} points${whole ? "" : " from 0 to 1, as shown"}.`),
    where)
  changed()
  return { load }
}

// base64 is a file as a text: data:image/png;base64,…
const base64 = file => new Promise((done, failed) => {
  const reader = new FileReader()
  reader.onload = () => done(reader.result)
  reader.onerror = () => failed(new Error(`${file.name} cannot be read.`))
  reader.readAsDataURL(file)
})

// dataURL is an image of numbers from 0 to 1 as a PNG in base64.
export function dataURL(pixels, [height, width, channels]) {
  const canvas = html("canvas", { width, height })
  const to = canvas.getContext("2d")
  const out = to.createImageData(width, height)
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) out.data[4 * i + c] = Math.round(255 * pixels[i * channels + Math.min(c, channels - 1)])
    out.data[4 * i + 3] = 255
  }
  to.putImageData(out, 0, 0)
  return canvas.toDataURL("image/png")
}
