package kernel

const softmaxKernels = true

func joinVector(l *Joined, a, b *Normals8, n *SoftmaxNodes) {
	joinAsm(&l.M[0], &a.M[0], &a.V[0], &b.M[0], &b.V[0], &n.JoinX[0])
}

func joinBackVector(da, db, d, a, b *Normals8, l *Joined, n *SoftmaxNodes) {
	joinBackAsm(&da.M[0], &da.V[0], &db.M[0], &db.V[0], &d.M[0], &d.V[0], &a.V[0], &b.V[0], &l.M[0], &n.JoinX[0])
}

func logisticVector(y *Normals8, f *[LogisticOrder]Eight, x *Normals8, n *SoftmaxNodes) {
	logisticAsm(&y.M[0], &y.V[0], &f[0][0], &x.M[0], &x.V[0], &n.JoinX[0])
}

func logisticBackVector(d, g, y, x *Normals8, f *[LogisticOrder]Eight, n *SoftmaxNodes) {
	logisticBackAsm(&d.M[0], &d.V[0], &g.M[0], &g.V[0], &y.M[0], &x.V[0], &f[0][0], &n.JoinX[0])
}
