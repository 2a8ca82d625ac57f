// Reads and writes CSV.

// parse returns the lines of a text as lists of fields. The delimiter is the one of
// comma, semicolon, tab and | that gives the first line the most fields, and among equals
// one that gives the next lines as many.
export function parse(text) {
  text = text.replace(/^\uFEFF/, "")
  const first = text.split("\n", 10).join("\n")
  const fields = d => {
    const all = split(first, d)
    if (first !== text && all.length > 1) all.pop() // it may be cut within quotes
    if (all.length === 0 || all[0].length === 1) return 0
    return all[0].length + (all.every(l => l.length === all[0].length) ? 0.5 : 0)
  }
  return split(text, [",", ";", "\t", "|"].reduce((a, b) => (fields(b) > fields(a) ? b : a)))
}

function split(text, delimiter) {
  const lines = []
  let line = [], field = "", quoted = false, begun = false
  const endField = () => {
    line.push(begun ? field : field.trim())
    field = ""
    begun = false
  }
  const endLine = () => {
    endField()
    if (line.length > 1 || line[0] !== "") lines.push(line)
    line = []
  }
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (quoted) {
      if (c !== '"') field += c
      else if (text[i + 1] === '"') field += text[++i]
      else quoted = false
    } else if (c === '"' && field.trim() === "") [quoted, begun, field] = [true, true, ""]
    else if (c === delimiter) endField()
    else if (c === "\n") endLine()
    else if (c !== "\r") field += c
  }
  if (field !== "" || line.length > 0) endLine()
  return lines
}

export const write = lines => lines.map(l => l.map(quote).join(",") + "\n").join("")

function quote(v) {
  const text = v === null || v === undefined ? "" : String(v)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
