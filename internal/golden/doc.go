// Package golden has tests only. They compare trainings, fits, predictions and
// files with bits that were recorded once, so that a change of the code cannot
// change a result unnoticed.
//
// The files in testdata were written by the first version of the file formats and
// are never written again. Recorded bits (testdata/bits.json) hold for one kernel
// family on one architecture. After a change of results that is intended, record
// them again, for all families, and say why in the commit message:
//
//	go test ./internal/golden -record
//	GODEBUG=cpu.avx512f=off go test ./internal/golden -record
//	GODEBUG=cpu.avx2=off go test ./internal/golden -record
package golden
