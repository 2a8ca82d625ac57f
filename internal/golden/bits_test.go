package golden

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/internal/compute"
)

var record = flag.Bool("record", false, "record the bits of this kernel family instead of comparing with them")

const bitsFile = "testdata/bits.json"

// A fingerprint is what is recorded of a list of numbers: a hash of their bits, and the
// first numbers, which show how large a difference is.
type fingerprint struct {
	Hash  string    `json:"sha256"`
	Count int       `json:"count"`
	First []float64 `json:"first"`
}

// recorded holds fingerprints by platform and name.
var recorded map[string]map[string]fingerprint

func TestMain(m *testing.M) {
	flag.Parse()
	b, err := os.ReadFile(bitsFile)
	if err == nil {
		err = json.Unmarshal(b, &recorded)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if *record && code == 0 {
		b, err := json.MarshalIndent(recorded, "", "\t")
		if err == nil {
			err = os.WriteFile(bitsFile, append(b, '\n'), 0o666)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// platform names what bits depend on: the architecture, the kernel family, and
// whether the compiler fuses x·y + z into one rounding.
func platform() string {
	name := runtime.GOARCH + "/" + compute.Family()
	if fused(1+0x1p-30, -(1+0x1p-29)) != 0 {
		name += "/fused"
	}
	return name
}

// fused is x² + z, where z is −x² rounded: 0 unless the sum sees the exact product.
//
//go:noinline
func fused(x, z float64) float64 { return x*x + z }

// needRecord skips a test on a platform without records.
func needRecord(t *testing.T) {
	t.Helper()
	if !*record && recorded[platform()] == nil {
		t.Skipf("no bits are recorded for %s: run the tests of the last good version with -record and compare", platform())
	}
}

func fingerprintOf(x []float64) fingerprint {
	hash := sha256.New()
	for _, v := range x {
		binary.Write(hash, binary.LittleEndian, v)
	}
	return fingerprint{hex.EncodeToString(hash.Sum(nil)), len(x), slices.Clone(x[:min(6, len(x))])}
}

// check compares numbers with what is recorded under the test's name and name.
func check(t *testing.T, name string, x []float64) {
	t.Helper()
	if !compute.Finite(x...) {
		t.Fatalf("%s: a number is not finite", name)
	}
	got := fingerprintOf(x)
	name = t.Name() + "/" + name
	if *record {
		if recorded[platform()] == nil {
			recorded[platform()] = map[string]fingerprint{}
		}
		recorded[platform()][name] = got
		return
	}
	want, ok := recorded[platform()][name]
	switch {
	case !ok:
		t.Errorf("%s: nothing is recorded for %s", name, platform())
	case got.Hash != want.Hash:
		t.Errorf("%s: the bits of %d numbers changed on %s:\n%v…, recorded (%d numbers)\n%v…", name, got.Count, platform(), got.First, want.Count, want.First)
	}
}

// numbers are the means, then the variances, of a prediction.
func numbers(b gauss.Batch[float32]) []float64 {
	x := make([]float64, 0, 2*len(b.Mean))
	for _, half := range [][]float32{b.Mean, b.Var} {
		for _, v := range half {
			x = append(x, float64(v))
		}
	}
	return x
}

// One different bit, if only the sign of a zero, must not pass.
func TestFingerprintSeesOneBit(t *testing.T) {
	want := fingerprintOf([]float64{1, 2, 0})
	for _, x := range [][]float64{{1, math.Nextafter(2, 3), 0}, {1, 2, math.Copysign(0, -1)}, {1, 2}} {
		if fingerprintOf(x).Hash == want.Hash {
			t.Errorf("%v has the hash of 1, 2, 0", x)
		}
	}
}
