// Reads and writes CSV.

// parse returns the lines of a text as lists of fields. The delimiter is the one of
// comma, semicolon, tab and | that the first line has most of.
export function parse(text) {
  text = text.replace(/^\uFEFF/, "")
  const first = text.slice(0, text.search(/\r?\n|$/)).replace(/"[^"]*"/g, "")
  const delimiter = [",", ";", "\t", "|"].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a))
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
