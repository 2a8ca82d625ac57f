package browser

//go:generate go run utvi/internal/browser/generate
