// Looks at every page that utvi makes, in a real Chromium, light and dark, at three widths and
// printed: node look.mjs NODE_MODULES [SCREENSHOTS]. axe-core must have no serious finding, and
// nothing may stick out. The current folder holds utvi, models, tables and reports (.ci/page makes
// them).

import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [modules, shots] = process.argv.slice(2)
const { default: puppeteer } = await import(pathToFileURL(path.join(modules, "puppeteer-core/lib/esm/puppeteer/puppeteer-core.js")))
const axe = fs.readFileSync(path.join(modules, "axe-core/axe.min.js"), "utf8")
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] })
const page = await browser.newPage()
await page.setBypassCSP(true) // axe comes from outside

// start runs a command and returns the address that it tells.
function start(pattern, ...args) {
  const program = spawn("./utvi", args)
  const ended = new Promise(resolve => program.on("exit", resolve))
  return new Promise((resolve, reject) => {
    let log = ""
    program.stderr.on("data", d => {
      log += d
      const at = pattern.exec(log)
      if (at) resolve({ url: at[1], program, ended })
    })
    program.on("exit", code => reject(new Error(`utvi ${args.join(" ")} ended with ${code}: ${log}`)))
  })
}
const serve = (...args) => start(/http=(\S+)/, "serve", ...args, "--http", "127.0.0.1:0", "--grpc", "none")
const until = (f, ...args) => page.waitForFunction(f, { timeout: 600_000 }, ...args)
const predicted = () => until(() => document.querySelector("#headline b")?.textContent && !document.querySelector(".waiting"))

fs.writeFileSync("key", "open sesame")
const { url, program: server } = await serve("resin.utvi", "class.utvi", "digits.utvi", "named.utvi")
const guarded = await serve("resin.utvi", "--token-file", "key")
const live = await start(/live page: (\S+)/, "fit", "resin.csv", "--target", "strength", "--out", "looked.utvi", "--report", "none", "--live", "--steps", "100000", "--fresh")
const file = name => String(pathToFileURL(path.resolve(name)))
const at = "http://" + url + "/"

// pages are all states that are looked at: an address, and what is done there.
const pages = {
  "live-fit": [live.url, () => until(() => document.querySelectorAll("#tables tbody tr").length >= 2 && document.querySelector("#figures svg path"))],
  "serve-number": [at + "#resin", predicted],
  "serve-class": [at + "#class", predicted],
  "serve-image": [at + "#digits", predicted],
  "serve-names": [at + "#named", predicted],
  "serve-far": [at + "#resin", async () => {
    await predicted()
    await page.evaluate(() => {
      const e = [...document.querySelectorAll("#controls label")].find(l => l.textContent === "temperature").control
      e.value = "900"
      e.dispatchEvent(new Event("input", { bubbles: true }))
    })
    await until(() => /unlike/.test(document.querySelector("#headline").textContent))
  }],
  "serve-empty": [at + "#resin", async () => {
    await predicted()
    await page.evaluate(() => {
      const e = document.querySelector("#controls input[type=number]")
      e.value = ""
      e.dispatchEvent(new Event("input", { bubbles: true }))
    })
    await until(() => document.querySelector(".stale"))
  }],
  "serve-rows": [at + "#resin", async () => {
    await predicted()
    await (await page.$("#file")).uploadFile(path.resolve("new.csv"))
    await until(() => document.querySelectorAll("#rows tbody tr").length === 100)
  }],
  "serve-rows-class": [at + "#class", async () => {
    await predicted()
    await (await page.$("#file")).uploadFile(path.resolve("class.csv"))
    await until(() => /predicted right/.test(document.querySelector("#rows figcaption")?.textContent))
  }],
  "serve-wrong-file": [at + "#resin", async () => {
    await predicted()
    await (await page.$("#file")).uploadFile(path.resolve("named.csv"))
    await until(() => !document.querySelector("#file-alert").hidden)
  }],
  "serve-token": ["http://" + guarded.url + "/", () => until(() => !document.querySelector("#token").hidden)],
  "folder-number": [file("resin-page/index.html"), predicted],
  "report-number": [file("resin-report/report.html"), () => {}],
  "report-class": [file("class-report/report.html"), () => {}],
  "report-eval": [file("eval-report/report.html"), () => {}],
  "report-paper": [file("all/report.html"), () => {}],
  "report-images": [file("photos-report/report.html"), () => {}],
  "report-locate": [file("few.html"), () => {}],
}
const widths = [1200, 800, 390]
const findings = []
let looked = 0

async function look(name, scheme, width) {
  const [address, act] = pages[name]
  await page.setViewport({ width, height: 900, hasTouch: width < 500, isMobile: width < 500 })
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
  await page.goto("about:blank")
  await page.goto(address)
  await act()
  const where = `${name}, ${scheme}, ${width}`
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth)
  if (wide > width) findings.push(`${where}: ${wide - width} pixels stick out`)
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] }))
  for (const v of violations) {
    for (const n of v.nodes) findings.push(`${where}: ${v.impact} ${v.id}: ${n.target.join(" ")}: ${n.failureSummary.replace(/\s+/g, " ").slice(0, 200)}`)
  }
  looked++
  if (scheme === "light" && width === 1200) await print(name)
  if (!shots) return
  await page.screenshot({ path: path.join(shots, `${name}-${scheme}-${width}.png`), fullPage: true })
  if (scheme === "light" && width === 1200) await page.pdf({ path: path.join(shots, name + ".pdf"), format: "A4", printBackground: true })
}

// print looks for tables that are wider than a sheet of A4 within its margins, 178 mm.
async function print(name) {
  await page.emulateMediaType("print")
  await page.setViewport({ width: 673, height: 900 })
  for (const head of await page.$$eval("table", all => all.filter(t => t.getBoundingClientRect().right > 674).map(t => t.querySelector("tr").textContent))) {
    findings.push(`${name}, printed: a table that the paper cuts off: ${head}`)
  }
  await page.emulateMediaType("screen")
  await page.setViewport({ width: 1200, height: 900 })
}

if (shots) fs.mkdirSync(shots, { recursive: true })
for (const name of Object.keys(pages)) {
  for (const scheme of ["light", "dark"]) {
    for (const width of shots ? widths : [1200, 390]) await look(name, scheme, width)
  }
}
await browser.close()
for (const p of [server, guarded.program, live.program]) {
  p.removeAllListeners("exit")
  p.kill("SIGKILL")
}
console.log([...new Set(findings)].join("\n"))
assert.equal(findings.length, 0, `${findings.length} findings on ${looked} views`)
console.log(`ok   ${looked} views of ${Object.keys(pages).length} pages: no finding by axe-core, nothing sticks out`)
process.exit(0)
