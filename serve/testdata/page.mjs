// Drives the server's page in a real Chromium: node page.mjs NODE_MODULES [SCREENSHOTS].
// The current folder holds utvi, models and tables (.ci/page makes them).

import assert from "node:assert/strict"
import { spawn, execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [modules, shots] = process.argv.slice(2)
const { default: puppeteer } = await import(pathToFileURL(path.join(modules, "puppeteer-core/lib/esm/puppeteer/puppeteer-core.js")))

// start runs a server and returns its address.
function start(...args) {
  const server = spawn("./utvi", ["serve", ...args, "--http", "127.0.0.1:0", "--grpc", "none"])
  return new Promise((resolve, reject) => {
    let log = ""
    server.stderr.on("data", d => {
      log += d
      const at = /http=(\S+)/.exec(log)
      if (at) resolve({ url: `http://${at[1]}/`, server })
    })
    server.on("exit", code => reject(new Error(`utvi serve ended with ${code}: ${log}`)))
  })
}

const { url, server } = await start("resin.utvi", "class.utvi", "digits.utvi", "named.utvi")
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] })
const page = await browser.newPage()
const downloads = path.resolve("downloads")
fs.mkdirSync(downloads, { recursive: true })
await (await browser.target().createCDPSession()).send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads })

const mistakes = []
page.on("pageerror", e => mistakes.push(e.message))
page.on("console", m => m.type() === "error" && !m.text().includes("Failed to load resource") && mistakes.push(m.text()))
page.on("request", r => new URL(r.url()).protocol === "http:" && !/^http:\/\/127\.0\.0\.1:/.test(r.url()) && mistakes.push("asked for " + r.url()))

const text = selector => page.$eval(selector, e => e.textContent)
const until = (f, ...args) => page.waitForFunction(f, { timeout: 600_000 }, ...args)
const changes = async (selector, act) => {
  const before = await text(selector)
  await act()
  await until((s, t) => document.querySelector(s).textContent !== t, selector, before)
  return text(selector)
}
const see = async (model, scheme, width, height) => {
  await page.setViewport({ width, height })
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
  await page.goto("about:blank")
  await page.goto(url + "#" + model)
  await until(m => document.querySelector("#headline b") && document.querySelector("#title").textContent === m, model)
}
const look = async name => shots && page.screenshot({ path: path.join(shots, name + ".png"), fullPage: true })
const control = name => page.evaluateHandle(n => [...document.querySelectorAll("#controls label")].find(l => l.textContent === n).control, name)
const slider = name => page.$(`#controls input[type=range][aria-label="${name}"]`)
const saved = async name => {
  const file = path.join(downloads, name)
  for (let i = 0; i < 12_000 && !fs.existsSync(file); i++) await new Promise(r => setTimeout(r, 50))
  const bytes = fs.readFileSync(file)
  fs.unlinkSync(file)
  return bytes
}
const click = label => page.$eval(`button[aria-label="${label}"]`, b => b.click())
const alert = () => page.$eval("#alert", e => (e.hidden ? "" : e.textContent))
async function upload(name, content) {
  if (content !== undefined) fs.writeFileSync(name, content)
  await (await page.$("#file")).uploadFile(path.resolve(name))
}

const tests = {
  async "columns named __proto__ and constructor are names"() {
    await see("named", "light", 1280, 1000)
    await (await slider("__proto__")).focus()
    await changes("#headline", async () => { for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowRight") })
    const row = Object.create(null)
    for (const c of ["__proto__", "constructor", "toString"]) row[c] = await (await control(c)).evaluate(e => (e.type === "number" ? e.valueAsNumber : e.value))
    const answer = await (await fetch(url + "predict/named", { method: "POST", body: JSON.stringify({ rows: [row] }) })).json()
    await until(c => document.querySelector("#headline").textContent.includes(c), answer.predictions[0].targets.price.class)
  },
  async "a slider moved by the keyboard changes the prediction to the server's answer"() {
    await see("resin", "light", 1280, 1000)
    await (await slider("temperature")).focus()
    await changes("#headline", async () => { for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowRight") })
    const row = {}
    for (const c of ["temperature", "minutes", "resin"]) row[c] = await (await control(c)).evaluate(e => (e.type === "number" ? e.valueAsNumber : e.value))
    row.temperature_std = await (await control("standard deviation")).evaluate(e => e.valueAsNumber)
    const answer = await (await fetch(url + "predict/resin", { method: "POST", body: JSON.stringify({ rows: [row], interval: 0.9 }) })).json()
    const { mean, std, interval } = answer.predictions[0].targets.strength
    await until(m => Math.abs(parseFloat(document.querySelector("#headline b").textContent) - m) < 0.051, mean)
    const decimals = Math.max(0, 1 - Math.floor(Math.log10(std)))
    await until(t => document.querySelector("#headline").textContent.includes(t), ` ${interval[0].toFixed(decimals)} to ${interval[1].toFixed(decimals)}.`)
    assert.match(await page.$eval("#figures svg", s => s.getAttribute("aria-label")), /Predictive density of strength: mean/)
    await look("resin-light")
  },
  async "the level of the interval"() {
    const at = await page.$("#options input[type=range]")
    await at.focus()
    await page.keyboard.press("Home")
    await until(() => /^50\s% interval/.test(document.querySelector("#headline small").textContent))
    await page.keyboard.press("End")
    await until(() => /^99\s% interval/.test(document.querySelector("#headline small").textContent))
  },
  async "a value outside the training range is marked, and the row unlike the training rows"() {
    const e = await control("temperature")
    await e.click({ count: 3 })
    await changes("#headline", () => e.type("900"))
    assert.equal(await text(".outside"), "outside the training range")
    await until(() => /unlike the training rows/.test(document.querySelector("#headline").textContent))
    assert.match(await page.$eval('svg[aria-label^="Out of distribution"]', s => s.getAttribute("aria-label")), /unlike the training rows\./)
    const reset = await page.$("#controls > button")
    await changes("#headline", () => reset.click())
    assert.equal(await text(".outside"), "")
  },
  async "a list is changed by the keyboard"() {
    await (await control("resin")).focus()
    await changes("#headline", () => page.keyboard.press("ArrowDown"))
  },
  async "a click on a curve sets the value, and every column has a curve and a part"() {
    const names = await page.$$eval("#whatif figcaption b", all => all.map(b => b.textContent))
    assert.deepEqual(names, ["temperature", "temperature_std", "minutes", "resin"])
    const before = await (await control("minutes")).evaluate(e => e.value)
    await changes("#headline", () => page.evaluate(() => {
      const s = document.querySelectorAll("#whatif svg")[2], b = s.getBoundingClientRect()
      s.dispatchEvent(new MouseEvent("click", { clientX: b.left + b.width * 0.9, clientY: b.top + 20, bubbles: true }))
    }))
    const after = await (await control("minutes")).evaluate(e => e.value)
    assert.ok(Number(after) > Number(before), `${before} → ${after}`)
    const drivers = await page.$eval('svg[aria-label^="What the columns add"]', s => s.getAttribute("aria-label"))
    for (const c of ["temperature", "minutes", "resin"]) assert.ok(drivers.includes(c + " = "), drivers)
  },
  async "parts of the variance add up"() {
    const shares = (await page.$eval('svg[aria-label^="Parts of the variance"]', s => s.getAttribute("aria-label"))).match(/[\d.]+\s%/g).map(parseFloat)
    assert.equal(shares.length, 3)
    assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 100) < 0.3, String(shares))
  },
  async "pictures are saved as files that need no page"() {
    await click("Save “Density of strength” as SVG")
    const picture = (await saved("density-of-strength.svg")).toString()
    assert.ok(picture.startsWith("<svg") && !picture.includes("var(") && picture.includes('xmlns="http://www.w3.org/2000/svg"'))
    await click("Save “temperature” as PNG")
    const bytes = await saved("temperature.png")
    assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47])
    assert.ok(bytes.length > 3000, `${bytes.length} bytes`)
  },
  async "a file of rows is predicted as utvi predict does"() {
    await upload("new.csv")
    await until(() => document.querySelectorAll("#rows tbody tr").length === 100)
    assert.match(await text("#rows figcaption"), /Root mean square error [\d.]+; [\d.]+\s% of 120 rows/)
    await look("resin-rows")
    await page.$eval("#rows button", b => b.click())
    const [head, ...lines] = (await saved("new-predicted.csv")).toString().trim().split("\n").map(l => l.split(","))
    const [ours, ...rows] = execFileSync("./utvi", ["predict", "resin.utvi", "new.csv", "--digits", "17", "--interval", "0.99"]).toString().trim().split("\n").map(l => l.split(","))
    assert.equal(lines.length, 120)
    for (const [i, row] of rows.entries()) {
      for (const [j, name] of ours.entries()) assert.equal(Number(lines[i][head.indexOf(name)]), Number(row[j]), `row ${i + 1}, ${name}`)
    }
  },
  async "files that do not fit are refused in one sentence"() {
    for (const [content, says] of [
      ["minutes,resin\n1,amber\n", /lacks the columns that the model needs: temperature, temperature_std\./],
      ["a,b\n1,2\n", /lacks all columns that the model needs: temperature, temperature_std, minutes, resin\./],
      [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 10, 44, 44]), /wrong\.csv is not a text; the model needs a table as CSV, with the columns temperature, /],
      ["temperature,temperature_std,minutes,resin\nhot,1,2,amber\n", /"hot" is text/],
      ["temperature,temperature_std,minutes,resin\n1,1\n", /row 1 has 2 fields; the first line has 4/],
      ["", /has no rows/],
    ]) {
      await upload("wrong.csv", content)
      await until(s => new RegExp(s).test(document.querySelector("#file-alert").textContent), says.source)
      assert.equal(await text("#progress"), "")
      assert.equal(await page.$$eval("#rows tr", all => all.length), 0)
    }
    await upload("photo.png", Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"))
    await until(() => /photo\.png is an image; the model needs a table as CSV/.test(document.querySelector("#file-alert").textContent))
    await upload("good.csv", 'temperature;temperature_std;minutes;resin\n"140";1;20;amber\n')
    await until(() => document.querySelectorAll("#rows tbody tr").length === 1)
    assert.ok(await page.$eval("#file-alert", e => e.hidden))
    assert.equal(await alert(), "")
  },
  async "what is no number is said beside the control, and the old prediction is not shown as its own"() {
    await see("resin", "light", 1280, 1000)
    const e = await control("minutes")
    await e.click({ count: 3 })
    await page.keyboard.press("Backspace")
    await until(() => document.querySelector("#prediction.stale #headline b").textContent === "–")
    assert.match(await text("#headline small"), /^minutes: a number is needed\.$/)
    assert.equal(await e.evaluate(e => e.closest(".control").querySelector(".outside").textContent), "needs a number")
    assert.equal(await e.evaluate(e => e.getAttribute("aria-invalid")), "true")
    assert.ok(await page.$("#whatif-section.stale"))
    await page.setViewport({ width: 1100, height: 1000 }) // drawn again, it is still no prediction
    await new Promise(r => setTimeout(r, 300))
    assert.equal(await text("#headline b"), "–")
    await e.type("-")
    assert.equal(await text("#headline b"), "–")
    await page.keyboard.press("Backspace")
    await e.type("20")
    await until(() => /±/.test(document.querySelector("#headline b").textContent))
    assert.equal(await page.$(".stale"), null)
    assert.equal(await text("#headline small").then(t => /needed/.test(t)), false)
  },
  async "the mean's line reaches its label, wherever the density lies"() {
    const [line, label] = await page.$eval('svg[aria-label^="Predictive density"]', s => [s.querySelector("line[stroke-dasharray]").getBBox(), [...s.querySelectorAll("text")].find(t => /^mean .* ± /.test(t.textContent)).getBBox()].map(b => [b.x, b.y, b.width, b.height]))
    assert.ok(line[1] < 20 && line[1] >= label[1], `${line} does not reach ${label}`)
    assert.ok(line[0] >= label[0] && line[0] <= label[0] + label[2])
  },
  async "fingers can hit everything"() {
    await page.setViewport({ width: 390, height: 844, hasTouch: true, isMobile: true })
    await page.reload()
    await until(() => document.querySelectorAll("#whatif svg").length === 4)
    const small = await page.$$eval("button, select, input, .button", all => all.filter(e => e.checkVisibility() && !e.closest("[hidden]") && e.id !== "file").map(e => [e.outerHTML.slice(0, 60), e.getBoundingClientRect()]).filter(([, b]) => b.height < 24 || b.width < 24).map(([t, b]) => `${t}: ${b.width} × ${b.height}`))
    assert.deepEqual(small, [])
    assert.ok(await page.$$eval("input[type=range]", all => all.every(e => e.getBoundingClientRect().height >= 44)))
  },
  async "another model is chosen"() {
    await page.select("#model", "class")
    await until(() => document.querySelector("#title").textContent === "class" && /with/.test(document.querySelector("#headline").textContent))
    assert.match(await text("#headline"), /^price: (high|low) with/)
    const p = (await page.$eval('svg[aria-label^="Probabilities"]', s => s.getAttribute("aria-label"))).match(/[\d.]+\s%/g).map(parseFloat)
    assert.ok(Math.abs(p[0] + p[1] - 100) < 0.2, String(p))
    await upload("class.csv")
    await until(() => /predicted right/.test(document.querySelector("#rows figcaption")?.textContent))
    await look("class-light")
  },
  async "dark, on a phone: nothing sticks out, the answer stays in sight, saved pictures are dark"() {
    await see("resin", "dark", 390, 844)
    await until(() => document.querySelectorAll("#whatif svg").length === 4)
    assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth) <= 390)
    await (await slider("minutes")).evaluate(e => e.scrollIntoView({ block: "center" }))
    const [top, bottom] = await page.$eval("#headline", e => [e.getBoundingClientRect().top, e.getBoundingClientRect().bottom])
    assert.ok(top >= 0 && bottom < 200, `the headline is at ${top} to ${bottom}`)
    await changes("#headline", async () => { await (await slider("minutes")).focus(); for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowRight") })
    await click("Save “Density of strength” as SVG")
    assert.match((await saved("density-of-strength.svg")).toString(), /<rect[^>]*fill="#15171a"/)
    await look("resin-phone-dark")
  },
  async "every control has a name, every text can be read"() {
    for (const [model, scheme] of [["resin", "light"], ["class", "dark"], ["digits", "light"]]) {
      await see(model, scheme, 1280, 900)
      const nameless = []
      const walk = n => {
        if (["button", "slider", "spinbutton", "combobox", "textbox", "image", "application"].includes(n.role) && !n.name) nameless.push(n)
        for (const c of n.children ?? []) walk(c)
      }
      walk(await page.accessibility.snapshot({ interestingOnly: false }))
      assert.deepEqual(nameless, [])
      assert.deepEqual(await page.evaluate(faint), [])
    }
    await see("resin", "light", 1280, 900)
    await page.keyboard.press("Tab")
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip")
  },
  async "an image is drawn by pointer and keyboard, or loaded"() {
    await see("digits", "light", 1280, 900)
    const area = await (await page.$(".canvas")).boundingBox()
    const point = (x, y) => [area.x + area.width * x, area.y + area.height * y]
    const probabilities = () => page.$eval('svg[aria-label^="Probabilities"]', s => s.getAttribute("aria-label"))
    const changed = async act => {
      const before = await probabilities()
      await act()
      await until(b => document.querySelector('svg[aria-label^="Probabilities"]').getAttribute("aria-label") !== b, before)
    }
    await changed(async () => {
      await page.mouse.move(...point(0.5, 0.2))
      await page.mouse.down()
      await page.mouse.move(...point(0.5, 0.8), { steps: 8 })
      await page.mouse.up()
    })
    const inked = () => page.$eval(".canvas", c => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 0 && v > 127).length)
    const drawn = await inked()
    assert.ok(drawn > 20, `${drawn} points`)
    await look("digits-light")
    await (await page.$(".canvas")).focus()
    for (const key of ["ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", " "]) await page.keyboard.press(key)
    assert.ok(await inked() > drawn)
    await page.$$eval("#controls button", all => all.find(b => b.textContent === "Clear").click())
    assert.equal(await inked(), 0)
    fs.writeFileSync("seven.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="280" height="280"><rect width="280" height="280" fill="white"/><path d="M80,60H200L130,220" fill="none" stroke="black" stroke-width="24"/></svg>')
    const png = await page.evaluate(async source => {
      const image = new Image()
      image.src = "data:image/svg+xml," + encodeURIComponent(source)
      await image.decode()
      const c = document.createElement("canvas")
      c.width = c.height = 280
      c.getContext("2d").drawImage(image, 0, 0)
      return c.toDataURL("image/png").split(",")[1]
    }, fs.readFileSync("seven.svg", "utf8"))
    fs.writeFileSync("seven.png", Buffer.from(png, "base64"))
    await changed(async () => (await page.$('#controls input[type=file]')).uploadFile(path.resolve("seven.png")))
    const ink = await inked()
    assert.ok(ink > 20 && ink < 300, `${ink} points; dark ink on white must become light ink on black`)
  },
  async "files and times are read and written exactly"() {
    const found = await page.evaluate(async () => {
      const csv = await import("/csv.js"), text = await import("/text.js"), svg = await import("/svg.js"), columns = await import("/columns.js")
      const at = Date.UTC(2026, 2, 4, 17, 6, 9) / 1000
      return {
        csv: csv.parse('\ufeffa;"b ""x"" ;";c\r\n1; 2 ;"line\n two"\r\n\r\n'),
        tab: csv.parse("a\tb,c\n1\t2"),
        back: csv.write([["a,b", 'c "d"', " e", null, 1.5]]),
        times: ["2006-01-02T15:04:05Z07:00", "2.1.2006", "1/2/06 3:04 PM", "Jan 2, 2006", "Monday, 02-Jan-06 15:04:05 MST", "January 2006"].map(l => text.time(at, l)),
        numbers: [0, 1234.5678, -0.00001234, 12345678, 99.96].map(v => text.round(v)),
        measured: [text.measured(43.412, 1.234), text.measured(12345.6, 210), text.measured(312022, 32081), text.measured(-0.01234, 0.00056)],
        shares: [0, 0.00001, 0.5, 0.1234, 0.99999, 1].map(p => text.percent(p)),
        column: [0.5, 0.1234].map(p => text.percent(p, true)),
        alike: [text.alike([5.621, -0.8412, -0.001]), text.alike([1234.5, -1, NaN]), text.alike([0, 0])],
        beside: [text.beside(264440, 32081), text.beside(42.0612, 0.79)],
        even: [svg.even(["−0.1", "0", "0.05", "1"]), svg.even(["50 %", "0.5"]), svg.even(["2019", "2020"])],
        few: svg.ticks(40_000, 950_000, 4),
        dates: [["2018-11-10", "2023-02-02", 5], ["2020-03-10", "2021-01-20", 6], ["2026-01-01", "2026-01-09", 5]].map(([a, b, n]) => {
          const [at, layout] = columns.dates(Date.parse(a) / 1000, Date.parse(b) / 1000, n)
          return at.map(t => text.time(t, layout)).join(" ")
        }),
        whole: [svg.ticks(2010, 2012, 5, true), svg.ticks(2010, 2012, 5)],
      }
    })
    assert.deepEqual(found, {
      csv: [["a", 'b "x" ;', "c"], ["1", "2", "line\n two"]],
      tab: [["a", "b,c"], ["1", "2"]],
      back: '"a,b","c ""d"""," e",,1.5\n',
      times: ["2026-03-04T17:06:09Z", "4.3.2026", "3/4/26 5:06 PM", "Mar 4, 2026", "Wednesday, 04-Mar-26 17:06:09 UTC", "March 2026"],
      numbers: ["0", "1235", "−1.234e-5", "1.235e7", "99.96"],
      measured: [["43.4", "1.2"], ["12350", "210"], ["312000", "32000"], ["−0.01234", "0.00056"]],
      shares: ["0 %", "< 0.1 %", "50 %", "12.3 %", "> 99.9 %", "100 %"].map(s => s.replaceAll(" ", "\u00a0")),
      column: ["50.0\u00a0%", "12.3\u00a0%"],
      alike: [["5.62", "−0.84", "0.00"], ["1235", "−1", "–"], ["0", "0"]],
      beside: ["264000", "42.06"],
      even: [["−0.10", "0", "0.05", "1.00"], ["50 %", "0.5"], ["2019", "2020"]],
      few: [200_000, 400_000, 600_000, 800_000],
      dates: ["2019 2020 2021 2022 2023", "May 2020 Jul 2020 Sep 2020 Nov 2020 Jan 2021", "1 Jan 3 Jan 5 Jan 7 Jan 9 Jan"],
      whole: [[2010, 2011, 2012], [2010, 2010.5, 2011, 2011.5, 2012]],
    })
  },
  async "a date has a control, and is sent as the model reads it"() {
    const found = await page.evaluate(async () => {
      const { columnsOf, rowOf, textOf } = await import("/columns.js"), { controls } = await import("/controls.js")
      const at = d => Date.parse(d + "T00:00:00Z") / 1000
      const model = { kind: "table", columns: [{ name: "when", type: "time", min: at("2025-01-01"), max: at("2026-01-01"), mean: at("2025-07-02") + 4567, typical: "2.7.2025", layout: "2.1.2006" }] }
      const columns = columnsOf(model), values = { when: columns[0].typical }
      const place = document.createElement("div")
      controls(place, model, columns, values, () => {})
      const [exact, range] = ["date", "range"].map(t => place.querySelector(`input[type=${t}]`))
      const rows = [rowOf(model, columns, values).when]
      exact.value = "2026-03-04"
      exact.dispatchEvent(new Event("input"))
      rows.push(rowOf(model, columns, values).when, textOf(columns[0], range.valueAsNumber), place.querySelector(".outside").textContent)
      range.stepDown()
      range.dispatchEvent(new Event("input"))
      return [...rows, rowOf(model, columns, values).when]
    })
    assert.deepEqual(found, ["2.7.2025", "4.3.2026", "4.3.2026", "outside the training range", "3.3.2026"])
  },
  async "a token is asked for, and kept"() {
    fs.writeFileSync("token", "open sesame")
    const guarded = await start("resin.utvi", "--token-file", "token")
    try {
      await page.goto(guarded.url)
      await until(() => !document.querySelector("#token").hidden)
      assert.equal(await page.evaluate(() => document.activeElement.name), "token")
      await page.keyboard.type("wrong")
      await page.keyboard.press("Enter")
      await until(() => /token/.test(document.querySelector("#alert").textContent))
      await page.$eval("#token [name=token]", e => { e.value = "" })
      await page.focus("#token [name=token]")
      await page.keyboard.type("open sesame")
      await page.keyboard.press("Enter")
      await until(() => document.querySelector("#headline b") && document.querySelector("#token").hidden)
    } finally {
      guarded.server.removeAllListeners("exit")
      guarded.server.kill()
    }
  },
  async "a server that ends is reported"() {
    await see("resin", "light", 1280, 900)
    server.removeAllListeners("exit")
    server.kill("SIGKILL")
    await (await slider("temperature")).focus()
    await page.keyboard.press("ArrowRight")
    await until(() => document.querySelector("#alert").textContent === "The server does not answer.")
    assert.equal(await text("#prediction.stale #headline b"), "–")
    await page.evaluate(() => document.querySelector("#whatif-section").scrollIntoView())
    await until(() => {
      const { top, bottom } = document.querySelector("#alert").getBoundingClientRect()
      return top >= 0 && bottom < 200
    })
  },
}

// faint lists texts whose contrast is below 4.5, in the page.
function faint() {
  const parse = c => (c.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number)
  const light = ([r, g, b]) => [r, g, b].map(v => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0)
  const all = []
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility() || e.disabled || e.closest("[hidden]") || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue
    let at = e, back = [0, 0, 0, 0]
    for (; at && !(back[3] ?? 1); at = at.parentElement) back = parse(getComputedStyle(at).backgroundColor)
    const style = getComputedStyle(e)
    const [a, b] = [light(parse(e.closest("svg") ? style.fill : style.color)), light(back)]
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (ratio < 4.5) all.push(`${e.textContent.slice(0, 40)}: ${ratio.toFixed(1)}`)
  }
  return [...new Set(all)]
}

let failed = 0
for (const [name, test] of Object.entries(tests)) {
  try {
    await test()
    console.log("ok  ", name)
  } catch (e) {
    failed++
    console.log("FAIL", name, "\n", e.stack)
    if (shots) await page.screenshot({ path: path.join(shots, "failed.png") })
  }
}
await browser.close()
server.kill()
if (mistakes.length > 0) console.log("the page made mistakes:\n" + mistakes.join("\n"))
process.exit(failed || mistakes.length ? 1 : 0)
