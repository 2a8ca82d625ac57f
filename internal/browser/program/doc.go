//go:build !(js && wasm)

// Command program runs in a browser only: go generate ./internal/browser builds it.
package main

func main() { panic("this program runs in a browser") }
