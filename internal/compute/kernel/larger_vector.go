//go:build amd64 || arm64

package kernel

func differencesVector(mean, variance []float32, c *Couples[float32]) {
	differencesAsm(&mean[0], &variance[0], &c.M1[0], &c.V1[0], &c.M2[0], &c.V2[0], len(mean))
}

func largerMomentsVector(m, v []float32, c *Couples[float32], mu, u []float32) {
	largerMomentsAsm(&m[0], &v[0], &c.M1[0], &c.V1[0], &c.M2[0], &c.V2[0], &mu[0], &u[0], len(m))
}

func largerSlopesVector(l *Larger[float32], c *Couples[float32], mu, u []float32) {
	largerSlopesAsm(&l.MM1[0], &l.MM2[0], &l.VM[0], &l.VV1[0], &l.VV2[0], &c.M1[0], &c.V1[0], &c.M2[0], &c.V2[0], &mu[0], &u[0], len(mu))
}

func largerBackVector(dm, dv, g, h []float32, l *Larger[float32]) {
	largerBackAsm(&dm[0], &dv[0], &g[0], &h[0], &l.MM1[0], &l.MM2[0], &l.MV[0], &l.VM[0], &l.VV1[0], &l.VV2[0], len(g))
}
