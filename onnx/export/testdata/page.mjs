// Serves a folder, opens its index.html in a real Chromium, and prints what the page says:
// node page.mjs NODE_MODULES FOLDER
import fs from "node:fs"
import http from "node:http"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [modules, folder] = process.argv.slice(2)
const { default: puppeteer } = await import(pathToFileURL(path.join(modules, "puppeteer-core/lib/esm/puppeteer/puppeteer-core.js")))
const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" }

const server = http.createServer((request, response) => {
  const file = path.join(folder, decodeURIComponent(new URL(request.url, "http://x").pathname))
  if (!fs.existsSync(file)) return response.writeHead(404).end()
  response.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "application/octet-stream" })
  fs.createReadStream(file).pipe(response)
})
await new Promise(done => server.listen(0, "127.0.0.1", done))
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] })
try {
  const page = await browser.newPage()
  page.on("pageerror", e => console.error(e.message))
  page.on("request", r => /^(data|blob):|^http:\/\/127\.0\.0\.1:/.test(r.url()) || console.error("asked for " + r.url()))
  await page.goto(`http://127.0.0.1:${server.address().port}/index.html`)
  await page.waitForFunction(() => document.getElementById("out").textContent !== "…", { timeout: 60_000 })
  console.log(await page.$eval("#out", e => e.textContent))
} finally {
  await browser.close()
  server.close()
}
