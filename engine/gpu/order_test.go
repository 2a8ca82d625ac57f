package gpu_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/optim"
	"utvi/rng"
)

// orderVariable is that of the emulated driver.
const orderVariable = "UTVI_EMULATED_ORDER"

// Kernels do not depend on the order in which threads and blocks run: a place that needs
// a barrier and has none would give other bits when they run backwards.
func TestOrder(t *testing.T) {
	e := card(t)
	if !emulated(e) {
		t.Skip("not run: a card chooses the order itself; compute-sanitizer's racecheck is the check there")
	}
	backwards := os.Getenv(orderVariable) != ""
	if backwards {
		fmt.Println() // apart from what the test prints
	}
	bits := map[string]string{}
	for _, c := range slices.Concat(cases(), correlatedCases(), correlatedImages(), formulaCases()) {
		tr, err := e.Train(network(t, c.in, c.layers), engine.Job{Data: source(t, c, true, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 20, Seed: rng.New(9), Pool: compute.NewPool(1)})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		score := tr.Gradient(1)
		change := tr.Update(engine.Update{Step: 1, Rate: 1e-2, KL: 1e-3})
		if err := tr.Sync(); err != nil {
			t.Fatal(err)
		}
		h := fnv.New64()
		for _, x := range slices.Concat(tr.State().Params.Theta, tr.State().First.Theta) {
			fmt.Fprintf(h, "%x ", math.Float32bits(x))
		}
		fmt.Fprintf(h, "%x %x %x", math.Float64bits(score.NLL), math.Float64bits(change.KL), math.Float64bits(change.GradNorm))
		bits[c.name] = fmt.Sprintf("%x", h.Sum64())
		if backwards {
			fmt.Printf("bits %s: %s\n", bits[c.name], c.name)
		}
		tr.(interface{ Close() error }).Close()
	}
	if backwards {
		return
	}
	again := exec.Command(os.Args[0], "-test.run", "^TestOrder$")
	again.Env = append(os.Environ(), orderVariable+"=back")
	out, err := again.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range bits {
		if !strings.Contains(string(out), "bits "+want+": "+name+"\n") {
			t.Errorf("%s: when threads and blocks run backwards, the bits differ", name)
		}
	}
}
