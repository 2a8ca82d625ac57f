package compute

//go:generate go run -C gen ./mul
