// Opens pages with a model inside from the disk, without a network, in a real Chromium: node
// folder.mjs NODE_MODULES [SCREENSHOTS]. The current folder holds utvi, models, their pages and
// tables (.ci/page makes them).

import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [modules, shots] = process.argv.slice(2)
const { default: puppeteer } = await import(pathToFileURL(path.join(modules, "puppeteer-core/lib/esm/puppeteer/puppeteer-core.js")))
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] })
const page = await browser.newPage()
await page.setOfflineMode(true)
const downloads = path.resolve("downloads")
fs.mkdirSync(downloads, { recursive: true })
await (await browser.target().createCDPSession()).send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads })
const mistakes = []
page.on("pageerror", e => mistakes.push(e.message))
page.on("console", m => m.type() === "error" && mistakes.push(m.text()))
page.on("request", r => /^https?:/.test(r.url()) && mistakes.push("asked for " + r.url()))

const until = (f, ...args) => page.waitForFunction(f, { timeout: 600_000 }, ...args)
const text = selector => page.$eval(selector, e => e.textContent)
const look = async name => shots && page.screenshot({ path: path.join(shots, name + ".png"), fullPage: true })
async function open(name) {
  await page.setViewport({ width: 1200, height: 900 })
  await page.goto(String(pathToFileURL(path.resolve(name + "-page", "index.html"))))
  await until(() => document.querySelector("#headline b")?.textContent)
}
const changes = async (selector, act) => {
  const before = await text(selector)
  await act()
  await until((s, t) => document.querySelector(s).textContent !== t, selector, before)
}

// lines of a CSV without quotes.
const read = text => text.trim().split("\n").map(l => l.split(","))

await open("resin")
await (await page.$("#controls input[type=range]")).focus()
await changes("#headline", async () => { for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowRight") })
await page.focus("#options input[type=range]")
await page.keyboard.press("Home")
await until(() => /^50\s% interval/.test(document.querySelector("#headline small").textContent))
assert.equal(await page.$$eval("#whatif svg", all => all.length), 4)
assert.match(await text("#where"), /no server is asked/)
await page.keyboard.press("End")
await until(() => /^99/.test(document.querySelector("#headline small").textContent))
await (await page.$("#file")).uploadFile(path.resolve("new.csv"))
await until(() => document.querySelectorAll("#rows tbody tr").length === 100)
const file = path.join(downloads, "new-predicted.csv")
fs.rmSync(file, { force: true })
await page.$eval("#rows button", b => b.click())
for (let i = 0; i < 12_000 && !fs.existsSync(file); i++) await new Promise(r => setTimeout(r, 50))
const [head, ...lines] = read(fs.readFileSync(file, "utf8"))
const [ours, ...rows] = read(execFileSync("./utvi", ["predict", "resin.utvi", "new.csv", "--digits", "17", "--interval", "0.99"], { stdio: ["ignore", "pipe", "ignore"] }).toString())
assert.equal(lines.length, rows.length)
let worst = 0
for (const [i, row] of rows.entries()) {
  for (const [j, name] of ours.entries()) {
    const [a, b] = [Number(lines[i][head.indexOf(name)]), Number(row[j])]
    worst = Math.max(worst, Math.abs(a - b) / (1e-3 + Math.abs(b)))
  }
}
assert.ok(worst < 1e-3, `predictions differ by ${worst} from those of utvi predict`)
await look("folder-resin")

await page.setViewport({ width: 390, height: 844 })
await until(() => document.scrollingElement.scrollWidth <= 390)

await open("class")
assert.match(await text("#headline"), /^price: (high|low) with/)
await changes("#headline", () => page.select("#controls select", "birch"))

await open("digits")
const area = await (await page.$(".canvas")).boundingBox()
await changes("#headline", async () => {
  await page.mouse.move(area.x + area.width / 2, area.y + area.height * 0.2)
  await page.mouse.down()
  await page.mouse.move(area.x + area.width / 2, area.y + area.height * 0.8, { steps: 8 })
  await page.mouse.up()
})
await browser.close()
assert.deepEqual(mistakes, [])
for (const name of ["resin", "class", "digits"]) {
  const size = execFileSync("sh", ["-c", `tar -cz ${name}-page | wc -c`]).toString().trim()
  assert.ok(Number(size) < 6e6, `${name}-page has ${size} bytes, compressed`)
}
console.log(`ok   pages with a model inside, from the disk and without a network: predictions within ${worst.toExponential(1)} of utvi predict`)
process.exit(0)
