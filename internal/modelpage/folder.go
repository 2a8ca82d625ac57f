package modelpage

import "utvi/internal/browser"

// Folder returns the files of a page that needs no server: opened from a disk, it predicts with the
// model inside.
func Folder(name string, model []byte) (map[string][]byte, error) {
	inside := append(browser.Constant("utviModel", model), browser.Text("utviName", name)...)
	return page(browser.Script{Name: "model.js", Text: inside}, browser.Script{Name: "start.js", Text: []byte(start)}).Folder()
}

func page(scripts ...browser.Script) browser.Page {
	return browser.Page{Files: Files, Scripts: scripts}
}

// start opens the model; questions wait until it is open.
const start = `"use strict"
{
  const ready = (async () => {
    await utviReady
    const [error, answer] = utviOpen(utviBytes(utviModel), utviName)
    if (error) throw new Error(error)
    return answer
  })()
  globalThis.utviInside = async (path, body) => {
    const answer = await ready
    await new Promise(resolve => setTimeout(resolve)) // let the browser draw
    return answer(path, body)
  }
}
`
