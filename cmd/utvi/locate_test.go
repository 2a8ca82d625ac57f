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

// locate writes the same table on any number of cores; the molecules of simulate are in it where
// they are; what is wrong with a stack or a flag is said in one line.
func TestLocate(t *testing.T) {
	dir := t.TempDir()
	stack := filepath.Join(dir, "f.tif")
	if code, _, errs := utvi(t, "locate", "simulate", "--frames", "40", "--pattern", "isolated", "-o", stack); code != 0 {
		t.Fatal(errs)
	}
	camera := filepath.Join(dir, "camera.yaml")
	if err := os.WriteFile(camera, []byte("Baseline: 500\nSensitivity: 1\nread_sigma: 17.3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var tables [2][]byte
	for i, cores := range []string{"1", "3"} {
		t.Setenv("GOMAXPROCS", cores)
		out := filepath.Join(dir, cores+".csv")
		code, said, errs := utvi(t, "locate", stack, "--camera", camera, "-o", out)
		if code != 0 || !strings.Contains(said, "in 40 frames to "+out) || !strings.Contains(errs, "standard deviation of 1.") {
			t.Fatalf("exit %d: %s%s", code, said, errs)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		tables[i] = b
	}
	if !bytes.Equal(tables[0], tables[1]) {
		t.Error("another number of cores writes another table")
	}
	narrow := filepath.Join(dir, "narrow.csv")
	code, _, errs := utvi(t, "locate", stack, "--camera", camera, "--sigma", "0.85", "-o", narrow)
	if code != 0 || !strings.Contains(errs, "--sigma is 0.85; without --sigma the width is estimated; all rows are flagged") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if rows := strings.Split(strings.TrimSpace(string(readFile(t, narrow))), "\n"); !strings.HasSuffix(rows[1], ",1") {
		t.Errorf("the first row is %s", rows[1])
	}
	lines := strings.Split(strings.TrimSpace(string(tables[0])), "\n")
	if len(lines) < 161 || len(lines) > 165 || !strings.HasPrefix(lines[0], `"id","frame","x [nm]","y [nm]","sigma [nm]"`) {
		t.Errorf("%d lines for 160 molecules, the first is %s", len(lines), lines[0])
	}
	text := filepath.Join(dir, "text.tif")
	if err := os.WriteFile(text, []byte("not a TIFF at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"":                               "takes a stack of frames",
		text:                             "it is not a TIFF file",
		stack + " --frames 5-3":          `--frames is "5-3"; it must be a range such as 1-1000`,
		stack + " --frames 1-41":         "there are only 40 frames",
		stack + " --sigma 9":             "--sigma is 9; it must be 0.5 to 3.3",
		stack + " --pixel 0":             "--pixel is 0",
		stack + " --offset 5000":         "pixels are below the camera's Offset of 5000 counts",
		stack + " --camera " + stack:     "it is not YAML",
		stack + " --qe 7 --output a.csv": "the camera's QE is 7",
	} {
		code, _, errs := utvi(t, append([]string{"locate"}, strings.Fields(args)...)...)
		if code == 0 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, says) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, errs, says)
		}
	}
}
