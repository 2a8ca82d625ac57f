package compute

//go:generate go run -C gen ./mul avx2
//go:generate go run -C gen ./mul avx512
//go:generate go run -C gen ./mul neon
//go:generate go run -C gen ./rand avx2
//go:generate go run -C gen ./rand avx512
//go:generate go run -C gen ./rule avx2
//go:generate go run -C gen ./rule avx512
//go:generate go run -C gen ./rule neon
//go:generate go run -C gen ./optim avx2
//go:generate go run -C gen ./optim avx512
//go:generate go run -C gen ./optim neon
//go:generate go run -C gen ./elem avx2
//go:generate go run -C gen ./elem avx512
//go:generate go run -C gen ./elem neon
//go:generate go run -C gen ./arith avx2
//go:generate go run -C gen ./arith avx512
//go:generate go run -C gen ./arith neon
//go:generate go run -C gen ./sense avx2
//go:generate go run -C gen ./sense avx512
//go:generate go run -C gen ./sense neon
//go:generate go run -C gen ./prog avx2
//go:generate go run -C gen ./prog avx512
//go:generate go run -C gen ./prog neon
