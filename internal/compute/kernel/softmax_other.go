//go:build !amd64

package kernel

import "utvi/internal/compute/internal/cpu"

const softmaxKernels = false

func joinVector(l *Joined, a, b *Normals8, n *SoftmaxNodes)                { panic(cpu.Missing) }
func joinBackVector(da, db, d, a, b *Normals8, l *Joined, n *SoftmaxNodes) { panic(cpu.Missing) }
func logisticVector(y *Normals8, f *[LogisticOrder]Eight, x *Normals8, n *SoftmaxNodes) {
	panic(cpu.Missing)
}
func logisticBackVector(d, g, y, x *Normals8, f *[LogisticOrder]Eight, n *SoftmaxNodes) {
	panic(cpu.Missing)
}
