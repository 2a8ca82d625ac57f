package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// locate simulate writes the same files twice, on any number of cores, and says what it refuses.
func TestLocateSimulate(t *testing.T) {
	dir := t.TempDir()
	var files [2][]byte
	for i, cores := range []string{"1", "3"} {
		t.Setenv("GOMAXPROCS", cores)
		out := filepath.Join(dir, cores, "f.tif")
		code, _, errs := utvi(t, "locate", "simulate", "--frames", "20", "--lifetime", "2", "-o", out)
		if code != 0 || errs != "" {
			t.Fatalf("exit %d: %s", code, errs)
		}
		for _, name := range []string{out, strings.TrimSuffix(out, ".tif") + ".truth.csv"} {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = append(files[i], b...)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("another number of cores writes other files")
	}
	for args, says := range map[string]string{
		"--gain 0":     "the camera's Gain is 0; it must be above 0",
		"--frames 0":   "--frames is 0",
		"--psf donut":  "there is no --psf donut; choose from gauss, airy, lopsided",
		"--pattern no": `there is no pattern "no"`,
	} {
		code, _, errs := utvi(t, append([]string{"locate", "simulate", "-o", filepath.Join(dir, "no.tif")}, strings.Fields(args)...)...)
		if code != 2 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, says) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, errs, says)
		}
	}
}
