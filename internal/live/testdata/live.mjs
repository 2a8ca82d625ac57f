// Watches a fit, a reproduction and a stack of frames in a real Chromium: node live.mjs NODE_MODULES
// [SCREENSHOTS]. The current folder holds utvi, resin.csv and cells.tif (.ci/page makes them).

import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [modules, shots] = process.argv.slice(2)
const { default: puppeteer } = await import(pathToFileURL(path.join(modules, "puppeteer-core/lib/esm/puppeteer/puppeteer-core.js")))
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] })
const page = await browser.newPage()
const mistakes = []
page.on("pageerror", e => mistakes.push(e.message))

// start runs a command with a live page.
async function start(...args) {
  const program = spawn("./utvi", args)
  const ended = new Promise(resolve => program.on("exit", resolve))
  const url = await new Promise((resolve, reject) => {
    let log = ""
    program.stderr.on("data", d => {
      log += d
      const at = /live page: (\S+)/.exec(log)
      if (at) resolve(at[1])
    })
    program.on("exit", code => reject(new Error(`utvi ended with ${code}: ${log}`)))
  })
  return { url, ended }
}
const until = (f, ...args) => page.waitForFunction(f, { timeout: 600_000 }, ...args)
const text = selector => page.$eval(selector, e => e.textContent)
const look = async name => shots && page.screenshot({ path: path.join(shots, name + ".png"), fullPage: true })

{
  const { url, ended } = await start("fit", "resin.csv", "--target", "strength", "--out", "watched.utvi", "--report", "none", "--live", "--steps", "20000")
  await page.setViewport({ width: 390, height: 844 })
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }])
  await page.goto(url)
  await until(() => document.querySelectorAll("#tables tbody tr").length >= 2 && document.querySelector("#figures svg path"))
  assert.match(await text("h1"), /Fitting resin\.csv/)
  assert.match(await text("#left"), /about .* left/)
  assert.match(await text("#figures figcaption"), /^Candidates, fold 1\. Score: mean −ln p in nats, on held-out rows; lower is better\.SVG PNG$/)
  const before = await page.$eval("#bar", b => b.value)
  await until(b => document.querySelector("#bar").value > b, before)
  assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth) <= 390)
  const faint = await page.evaluate(() => {
    const luminance = colour => colour.match(/\d+/g).slice(0, 3).map(v => v / 255)
      .map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
    const ground = luminance(getComputedStyle(document.body).backgroundColor)
    const lines = [...document.querySelectorAll("#figures path, .swatch line")].map(e => getComputedStyle(e).stroke)
    return lines.filter(c => { const v = luminance(c); return (Math.max(v, ground) + 0.05) / (Math.min(v, ground) + 0.05) < 3 })
  })
  assert.deepEqual(faint, [], "curves that the dark page hides")
  await look("live-phone-dark")
  for (let i = 0; i < 5 && await page.evaluate(() => document.activeElement.id !== "stop"); i++) await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  assert.equal(await ended, 75)
  await until(() => /holds the best model so far/.test(document.querySelector("#end").textContent))
  assert.ok(await page.$eval("#stop", b => b.hidden))
  assert.ok(fs.existsSync("watched.utvi"))
}
{
  const { url, ended } = await start("reproduce", "digits", "--preset", "tiny", "--steps", "400", "--out", "watched", "--live")
  await page.setViewport({ width: 1000, height: 800 })
  await page.goto(url)
  assert.equal(await ended, 0)
  await until(() => /All trials are done/.test(document.querySelector("#end").textContent))
  const trials = await page.$$eval("#tables tbody tr", all => all.map(r => r.textContent))
  assert.equal(trials.length, 2)
  assert.ok(await page.$$eval("#tables progress", all => all.every(p => p.value === 1)))
  await look("live-reproduce")
}
{
  const { url, ended } = await start("locate", "cells.tif", "--offset", "500", "--read-noise", "17.3", "-o", "cells.locs.csv", "--live")
  await page.goto(url)
  await until(() => document.querySelector("#picture").naturalWidth > 0 && document.querySelectorAll("#figures svg path").length === 2)
  await until(() => /^\d+, [\d.]+ a frame$/.test(document.querySelectorAll("#facts dd")[1]?.textContent))
  const before = await page.$eval("#picture", p => p.src)
  await until(b => document.querySelector("#picture").src !== b, before)
  await look("live-locate")
  assert.equal(await ended, 0)
  await until(() => /localisations in 3000 frames, in cells\.locs\.csv\.$/.test(document.querySelector("#end").textContent))
  await page.setViewport({ width: 390, height: 844 })
  assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth) <= 390)
  await look("live-locate-phone")
}
await browser.close()
assert.deepEqual(mistakes, [])
console.log("ok   a fit, a reproduction and a stack of frames are watched, and the fit is stopped by the keyboard")
process.exit(0)
