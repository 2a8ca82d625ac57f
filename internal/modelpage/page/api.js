// Talks to the server that shows this page, or to the program inside a page without a server.

let token = ""

export const setToken = t => { token = t }
export const hasToken = () => token !== ""

export class Refused extends Error {
  constructor(text, status) {
    super(text)
    this.status = status
  }
}

// inside is the program of a page that has its model inside.
export const inside = globalThis.utviInside

async function ask(path, options = {}) {
  if (inside) {
    const [status, text] = await inside(path, options.body ?? "")
    const body = JSON.parse(text)
    if (status !== 200) throw new Refused(body.error, status)
    return body
  }
  const headers = { ...options.headers }
  if (token) headers.Authorization = "Bearer " + token
  let answer
  try {
    answer = await fetch(path, { ...options, headers })
  } catch {
    throw new Refused("The server does not answer.", 0)
  }
  const text = await answer.text()
  let body
  try {
    body = JSON.parse(text)
  } catch {
    throw new Refused(text || answer.statusText, answer.status)
  }
  if (!answer.ok) throw new Refused(body.error ?? answer.statusText, answer.status)
  return body
}

export const models = async () => (await ask("models")).models

const place = (name, version) => encodeURIComponent(name) + (version ? "/versions/" + encodeURIComponent(version) : "")

export const model = (name, version) => ask("models/" + place(name, version))

export function predict(m, rows, options) {
  return ask("predict/" + place(m.name, m.version), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ rows, ...options }),
  })
}

// latest runs an async function for the newest arguments only: while one call is under
// way, of all later ones the last waits.
export function latest(f) {
  let busy = false, waiting = null
  return async function run(...args) {
    if (busy) {
      waiting = args
      return
    }
    busy = true
    try {
      await f(...args)
    } finally {
      busy = false
      if (waiting) {
        const next = waiting
        waiting = null
        run(...next)
      }
    }
  }
}
