package bench

import "testing"

// A step of each network, one thread, for profiles: go test ./internal/bench -run - -bench Step/lstm
func BenchmarkStep(b *testing.B) {
	for _, n := range nets {
		for _, rule := range rules {
			b.Run(n.name+"/"+rule.name, func(b *testing.B) {
				r, err := n.rig(rule.name, rule.rule, 128, 1)
				if err != nil {
					b.Fatal(err)
				}
				defer r.close()
				r.step()
				b.ReportAllocs()
				for b.Loop() {
					r.step()
				}
				if r.failed != nil {
					b.Fatal(r.failed)
				}
			})
		}
	}
}
