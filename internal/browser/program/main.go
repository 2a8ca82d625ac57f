//go:build js && wasm

// Command program is what pages in a folder run: it opens a model that lies beside the page and
// answers questions about it, or about moments.
package main

import (
	"bytes"
	"syscall/js"

	"utvi/internal/answer"
	"utvi/internal/methodpage"
	"utvi/predict"
	_ "utvi/table/images"
)

func main() {
	js.Global().Set("utviOpen", js.FuncOf(open))
	js.Global().Set("utviMoments", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(methodpage.Ask([]byte(args[0].String())))
	}))
	select {} // the functions stay
}

// open takes the bytes of a model's file and its name, and returns an error's text, or null and the
// function that answers: of a path and a body, [status, text].
func open(_ js.Value, args []js.Value) any {
	file := make([]byte, args[0].Length())
	js.CopyBytesToGo(file, args[0])
	m, err := predict.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return []any{err.Error(), nil}
	}
	local := answer.NewLocal(m, args[1].String())
	return []any{nil, js.FuncOf(func(_ js.Value, args []js.Value) any {
		status, text := local.Ask(args[0].String(), []byte(args[1].String()))
		return []any{status, string(text)}
	})}
}
