// Numbers and times as texts.

// minus gives a number its sign, and 0 none.
export const minus = s => (Number(s) === 0 ? s.replace("-", "") : s.replace("-", "−"))

// round writes a number with n significant digits, without needless zeros.
export function round(v, n = 4) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–"
  const size = Math.abs(v)
  if (size >= 1e7 || size !== 0 && size < 1e-4) return minus(v.toExponential(Math.max(0, n - 1)).replace(/\.?0+e/, "e").replace("e+", "e"))
  return minus(String(Number(v.toPrecision(n))))
}

// measured writes a number and its standard deviation, with two digits of the latter.
export function measured(mean, std) {
  if (!(std > 0)) return [round(mean), round(std)]
  const digits = decimalsOf(std)
  if (Math.abs(mean) >= 1e7 || std < 1e-6) return [round(mean, 6), round(std, 2)]
  return [minus(whole(mean, std).toFixed(digits)), whole(std, std).toFixed(digits)]
}

// whole leaves out digits that a standard deviation of 100 and more makes meaningless.
function whole(v, std) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(std)) - 1)
  return unit > 1 ? Math.round(v / unit) * unit : v
}

// decimalsOf are the decimals that show two digits of a standard deviation.
export const decimalsOf = std => Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(std))))

// beside writes a number with the decimals of one whose standard deviation is given.
export const beside = (v, std) => (std > 0 && Math.abs(v) < 1e7 && std >= 1e-6 ? minus(whole(v, std).toFixed(decimalsOf(std))) : round(v))

// alike writes numbers of one column with the same decimals: n digits of the largest.
export function alike(values, n = 3) {
  const most = Math.max(...values.filter(Number.isFinite).map(Math.abs))
  if (!(most > 0) || most >= 1e7 || most < 1e-4) return values.map(v => round(v, n))
  const decimals = Math.max(0, n - 1 - Math.floor(Math.log10(most)))
  return values.map(v => (Number.isFinite(v) ? minus(v.toFixed(decimals)) : "–"))
}

// percent writes a share; the space before the sign does not break. In a column, all have one decimal.
export function percent(p, column = false) {
  if (p > 0 && p < 0.0005) return "<\u00a00.1\u00a0%"
  if (p < 1 && p > 0.9995) return ">\u00a099.9\u00a0%"
  const text = (100 * p).toFixed(1)
  return (column ? text : Number(text)) + "\u00a0%"
}

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const two = n => String(n).padStart(2, "0")

// The parts of a layout as Go writes them, by the time 2006-01-02 15:04:05.
const parts = {
  "2006": t => String(t.getUTCFullYear()).padStart(4, "0"),
  "06": t => two(t.getUTCFullYear() % 100),
  January: t => months[t.getUTCMonth()],
  Jan: t => months[t.getUTCMonth()].slice(0, 3),
  "01": t => two(t.getUTCMonth() + 1),
  "1": t => String(t.getUTCMonth() + 1),
  Monday: t => days[t.getUTCDay()],
  Mon: t => days[t.getUTCDay()].slice(0, 3),
  "02": t => two(t.getUTCDate()),
  _2: t => String(t.getUTCDate()).padStart(2, " "),
  "2": t => String(t.getUTCDate()),
  "15": t => two(t.getUTCHours()),
  "03": t => two((t.getUTCHours() + 11) % 12 + 1),
  "3": t => String((t.getUTCHours() + 11) % 12 + 1),
  "04": t => two(t.getUTCMinutes()),
  "05": t => two(t.getUTCSeconds()),
  PM: t => (t.getUTCHours() < 12 ? "AM" : "PM"),
  "Z07:00": () => "Z",
  "-0700": () => "+0000",
  MST: () => "UTC",
  ".999999999": () => "",
}
const part = /2006|January|Monday|Jan|Mon|MST|Z07:00|-0700|\.999999999|PM|15|_2|0[1-6]|[123]/g

// time writes seconds since 1970 in a layout.
export const time = (seconds, layout) => layout.replace(part, p => (parts[p] ? parts[p](new Date(1000 * seconds)) : p))
