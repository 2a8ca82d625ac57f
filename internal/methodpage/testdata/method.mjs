// Opens the page of the method from the disk, without a network, in a real Chromium: node
// method.mjs NODE_MODULES [SCREENSHOTS]. The current folder holds utvi and method-page.

import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [modules, shots] = process.argv.slice(2)
const { default: puppeteer } = await import(pathToFileURL(path.join(modules, "puppeteer-core/lib/esm/puppeteer/puppeteer-core.js")))
const axe = fs.readFileSync(path.join(modules, "axe-core/axe.min.js"), "utf8")
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] })
const page = await browser.newPage()
await page.setOfflineMode(true)
const mistakes = []
page.on("pageerror", e => mistakes.push(e.message))
page.on("console", m => m.type() === "error" && mistakes.push(m.text()))
page.on("request", r => /^https?:/.test(r.url()) && mistakes.push("asked for " + r.url()))

const until = (f, ...args) => page.waitForFunction(f, { timeout: 600_000 }, ...args)
const text = selector => page.$eval(selector, e => e.textContent)
const changes = async act => {
  const before = await text("#numbers") + await text("#headline")
  await act()
  await until(t => document.querySelector("#numbers").textContent + document.querySelector("#headline").textContent !== t, before)
}
const write = (selector, value) => page.$eval(selector, (e, v) => { e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })) }, value)
const look = async name => shots && page.screenshot({ path: path.join(shots, name + ".png"), fullPage: true })
const accessible = async where => {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => axe.run({ preload: false }))
  assert.deepEqual(violations.map(v => `${where}: ${v.id} ${v.nodes[0].target}`), [])
}

await page.setViewport({ width: 1200, height: 900 })
await page.goto(String(pathToFileURL(path.resolve("method-page", "index.html"))))
await until(() => document.querySelectorAll("#figures svg").length === 3)
await accessible("wide")
await look("method")

// The page says what the command says.
const cells = () => page.$$eval("#numbers tbody td", all => all.map(e => Number(e.textContent.replace("−", "-"))))
const cases = [
  ["tanh", "ut", "", 0.3, 0.5, ["--fn", "tanh", "--rule", "ut"]],
  ["x / (1 + x^2)", "gh", "", -0.4, 1.2, ["--fn", "x / (1 + x^2)", "--rule", "gh", "--order", "5"]],
  ["relu", "exact", "", 1, 2, ["--fn", "relu", "--rule", "exact"]],
  ["sin", "linear", "", 0.2, 0.7, ["--fn", "sin", "--rule", "linear"]],
]
for (const [fn, rule, , mean, std, flags] of cases) {
  await page.select("#rule", rule)
  await write("#function", fn)
  const boxes = await page.$$("#normal input[type=number]")
  for (const [i, v] of [mean, std].entries()) await boxes[i].evaluate((e, v) => { e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })) }, v)
  const want = JSON.parse(execFileSync("./utvi", ["moments", ...flags, "--mean", mean, "--var", std * std, "--json"]))
  const said = [mean, std, want.exact_mean, Math.sqrt(want.exact_variance), want.mean, Math.sqrt(want.variance)]
  const differs = (v, got) => !(Math.abs(got - v) <= 1e-4 * (1e-3 + Math.abs(v)))
  let got = await cells()
  for (const end = Date.now() + 120_000; said.some((v, i) => differs(v, got[i])) && Date.now() < end; got = await cells()) await new Promise(r => setTimeout(r, 20))
  for (const [i, v] of said.entries()) assert.ok(!differs(v, got[i]), `${fn} by ${rule}: number ${i} is ${got[i]}, utvi moments says ${v}`)
  await until(() => document.querySelectorAll("#figures svg").length === 3)
}
// Every function that is offered works with every rule, or is refused in a sentence.
for (const chip of await page.$$("#chips button")) {
  await chip.click()
  await new Promise(r => setTimeout(r, 60))
  for (const rule of ["ut", "gh", "genut", "mc"]) {
    await page.select("#rule", rule)
    await new Promise(r => setTimeout(r, 60))
    assert.doesNotMatch(await text("#headline"), /undefined|NaN/)
    assert.ok(!await page.$(".refused"), await text("#headline"))
  }
}
await changes(() => write("#function", "tanh"))
await changes(() => page.$eval("#parameters button", b => b.click())) // other samples

await write("#function", "relu(")
await until(() => document.querySelector(".refused"))
assert.equal(await page.$eval("#function", e => e.getAttribute("aria-invalid")), "true")
assert.ok(await page.$(".results.stale"))
await look("method-refused")
await write("#function", "abs")
await until(() => !document.querySelector(".refused"))

await page.setViewport({ width: 390, height: 844 })
await until(() => document.scrollingElement.scrollWidth <= 390)
await accessible("narrow")
await look("method-phone")
await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }])
await page.setViewport({ width: 1200, height: 900 })
await new Promise(r => setTimeout(r, 400))
await accessible("dark")
await look("method-dark")
await browser.close()
assert.deepEqual(mistakes, [])
const size = Number(execFileSync("sh", ["-c", "tar -cz method-page | wc -c"]).toString())
assert.ok(size < 6e6, `method-page has ${size} bytes, compressed`)
console.log(`ok   the page of the method, from the disk: the numbers of utvi moments, ${(size / 1e6).toFixed(1)} MB packed`)
process.exit(0)
