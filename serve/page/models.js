const list = document.getElementById("models")
const { models } = await (await fetch("models")).json()
for (const m of models) {
  const item = document.createElement("li")
  item.textContent = `${m.name}: ${m.targets.map(t => t.name).join(", ")}`
  list.append(item)
}
