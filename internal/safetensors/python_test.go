package safetensors

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Another reader, in another language, finds what was written.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no second reader to compare with: ", err)
	}
	path := filepath.Join(t.TempDir(), "sample.safetensors")
	if err := os.WriteFile(path, encoded(t, sample()), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command(python, "testdata/dump.py", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	gotLines := strings.Split(strings.ReplaceAll(string(got), "\r", ""), "\n")
	for i, want := range strings.Split(pythonDump(sample()), "\n") {
		if i >= len(gotLines) || gotLines[i] != want {
			t.Fatalf("line %d of\n%sis not\n%s", i, got, want)
		}
	}
}

// pythonDump is what testdata/dump.py prints.
func pythonDump(f *File) string {
	meta := []string{}
	for k, v := range f.Metadata {
		meta = append(meta, hex.EncodeToString([]byte(k+"="+v)))
	}
	slices.Sort(meta)
	var s strings.Builder
	fmt.Fprintf(&s, "checksum True\nmetadata %s\n", strings.Join(meta, " "))
	for _, t := range f.Tensors {
		dtype, _, _ := t.dtype()
		shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ","), "[]")
		fmt.Fprintf(&s, "%x %s %s", t.Name, dtype, shape)
		for _, x := range t.F32 {
			fmt.Fprint(&s, " ", math.Float32bits(x))
		}
		for _, x := range t.F64 {
			fmt.Fprint(&s, " ", math.Float64bits(x))
		}
		for _, x := range t.I64 {
			fmt.Fprint(&s, " ", x)
		}
		for _, x := range t.U64 {
			fmt.Fprint(&s, " ", x)
		}
		for _, x := range t.U8 {
			fmt.Fprint(&s, " ", x)
		}
		fmt.Fprintln(&s)
	}
	return s.String()
}
