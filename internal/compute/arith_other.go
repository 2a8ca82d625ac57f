//go:build !amd64 && !arm64

package compute

func twiceMulVector(dst, x, y []float32)                     { panic(missing) }
func mulToVector(dst, x, y []float32)                        { panic(missing) }
func addVector(x, y []float32)                               { panic(missing) }
func addTwiceMulVector(x, y, z []float32)                    { panic(missing) }
func anyBelowVector(s, m []float32, rel float32) bool        { panic(missing) }
func squaresVector(x []float32) float32                      { panic(missing) }
func packLeftVector(dst, src []float32, rows, width int) int { panic(missing) }
