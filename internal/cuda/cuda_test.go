package cuda_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"utvi/internal/cuda"
	"utvi/internal/cuda/kernels"
)

// card returns card 0, or skips the test where there is none.
func card(t testing.TB) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0)
	if err != nil {
		if os.Getenv(cuda.LibraryVariable) != "" {
			t.Fatal(err)
		}
		t.Skipf("not run: %v; set %s to the library of internal/cuda/emulator to run it on the processor", err, cuda.LibraryVariable)
	}
	return d
}

func TestMemory(t *testing.T) {
	d := card(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := d.Alloc(4 * 100)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release(p)
	want := make([]float32, 100)
	for i := range want {
		want[i] = float32(i)
	}
	got := make([]float32, 100)
	if err := errors.Join(cuda.Upload(s, p, want), s.Zero(p.Add(4*10), 4*5), cuda.Download(s, got, p), s.Sync()); err != nil {
		t.Fatal(err)
	}
	clear(want[10:15])
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// What goes wrong is an error of one sentence.
func TestErrors(t *testing.T) {
	d := card(t)
	if _, err := d.Alloc(1 << 50); !errors.Is(err, cuda.ErrMemory) {
		t.Errorf("a petabyte: %v", err)
	}
	if _, err := cuda.Open(99); err == nil || !strings.Contains(err.Error(), "card 99 does not exist") {
		t.Errorf("card 99: %v", err)
	}
	nonsense := d.Kernel("norm", 0, func() ([]byte, error) { return []byte("nonsense"), nil })
	if err := nonsense.Compile(); err == nil || !strings.Contains(err.Error(), "the kernel norm cannot be compiled for") {
		t.Errorf("nonsense was compiled: %v", err)
	}
	text, err := kernels.Base.Kernel("norm")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Kernel("another", 0, func() ([]byte, error) { return text, nil }).Compile(); err == nil {
		t.Error("a kernel that does not exist was found")
	}
	if err := d.Kernel("norm", 0, func() ([]byte, error) { return text, nil }).Compile(); err != nil {
		t.Error(err)
	}
}

// What the driver says of a kernel is kept; why it cannot be compiled is part of the error.
func TestRemarks(t *testing.T) {
	d := card(t)
	text, err := kernels.Base.Kernel("norm")
	if err != nil {
		t.Fatal(err)
	}
	before := len(d.Remarks())
	said := append([]byte("// remark: products are serialized\n"), text...)
	if err := d.Kernel("norm", 0, func() ([]byte, error) { return said, nil }).Compile(); err != nil {
		t.Fatal(err)
	}
	err = d.Kernel("norm", 0, func() ([]byte, error) { return []byte("nonsense"), nil }).Compile()
	if os.Getenv(cuda.LibraryVariable) == "" {
		t.Skip("not compared: only the emulated driver says what the test expects")
	}
	if r := d.Remarks(); len(r) != before+1 || !slices.Contains(r, "norm: products are serialized") {
		t.Errorf("remarks %q", r)
	}
	if err == nil || !strings.Contains(err.Error(), "(ptxas fatal: missing .target)") {
		t.Errorf("nonsense: %v", err)
	}
}

// A call of the driver does not allocate memory.
func TestCallsDoNotAllocate(t *testing.T) {
	d := card(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := testing.AllocsPerRun(100, func() { s.Sync() }); n != 0 {
		t.Errorf("a call allocates %v times", n)
	}
}
