package modelpage

//go:generate go run utvi/internal/modelpage/generate
