package compute

//go:generate go run -C gen ./mul
//go:generate go run -C gen ./rand
//go:generate go run -C gen ./rule
//go:generate go run -C gen ./optim
//go:generate go run -C gen ./elem
//go:generate go run -C gen ./arith
//go:generate go run -C gen ./sense
//go:generate go run -C gen ./prog
