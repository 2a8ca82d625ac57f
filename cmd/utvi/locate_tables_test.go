package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A recording goes through all commands: found, filtered, linked, its drift taken out, checked, drawn, and
// written for other programs. What is wrong with a table or a flag is said in one line.
func TestLocateTables(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(says string, args ...string) {
		t.Helper()
		code, out, errs := utvi(t, append([]string{"locate"}, args...)...)
		if code != 0 || !strings.Contains(out, says) {
			t.Fatalf("%v: exit %d, %q; want %q; %s", args, code, out, says, errs)
		}
	}
	run("Wrote 300 frames", "simulate", "--pattern", "filaments", "--density", "0.6", "--lifetime", "3", "--drift", "100", "--frames", "300", "-o", at("f.tif"))
	run("in 300 frames", at("f.tif"), "--offset", "500", "--read-noise", "17.3", "-o", at("f.locs.csv"), "--report", at("f.html"))
	run("in 20 frames", at("f.tif"), "--offset", "500", "--read-noise", "17.3", "--frames", "1-20", "--net", "none", "-o", at("f.parquet"))
	run("Filter of", "filter", at("f.locs.csv"), "--keep", "prob>0.9 & outside=0 & uncertainty<40")
	run("Drift of", "drift", at("f.filtered.csv"), "--segments", "4", "--file", at("drift.txt"), "-o", at("g.csv"))
	run("Link of", "link", at("g.csv"), "--dark", "1", "-o", at("l.csv"))
	run("pairs", "check", at("g.csv"), "-o", at("check.html"))
	run("the bar is", "render", at("l.csv"), "-o", at("l.png"))
	run("Wrote", "render", at("l.csv"), "-o", at("l.tif"))
	run("Merge of", "merge", at("f.parquet"), at("l.csv"), "--pixel", "100", "-o", at("m.hdf5"))
	for name, begins := range map[string]string{"f.html": "<!DOCTYPE html", "check.html": "<!DOCTYPE html", "l.png": "\x89PNG", "l.tif": "II*", "m.hdf5": "\x89HDF", "m.yaml": "Byte Order", "drift.txt": "\"frame\",\"drift_x [nm]\""} {
		b, err := os.ReadFile(at(name))
		if err != nil || !bytes.HasPrefix(bytes.ToLower(b[:min(40, len(b))]), bytes.ToLower([]byte(begins))) {
			t.Errorf("%s begins with %q, %v; want %q", name, b[:min(20, len(b))], err, begins)
		}
	}
	if err := os.WriteFile(at("other.csv"), []byte("a,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("bad.csv"), []byte("frame,x,y,uncertainty_x,uncertainty_y\n1,2,3,4,5\n1,2,3,0,5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"filter " + at("other.csv"):                     "it has no columns frame, x [nm] and y [nm]",
		"filter " + at("bad.csv"):                       "line 3: a molecule needs a frame, x and y, and an uncertainty above 0",
		"filter " + at("l.csv") + " --keep prob":        "the condition \"prob\" is none",
		"filter " + at("l.csv") + " -o " + at("x.hdf5"): "give their size in nm with --pixel",
		"filter " + at("l.csv") + " -o " + at("x.xls"):  "the name must end with .csv",
		"filter " + at("l.csv") + " -o " + at("l.csv"):  "is both the table to read and the one to write",
		"link " + at("l.csv") + " --radius 0":           "--radius must be above 0",
		"drift " + at("f.filtered.csv") + " --reach 1":  "--reach 10 to 10000",
		"render " + at("l.csv") + " --nm 0":             "--nm must be 0.1 to 10000",
		"render " + at("l.csv") + " -o " + at("x.gif"):  "a picture is a .png or a .tif",
		"check " + at("none.csv"):                       "no such file",
		"merge " + at("l.csv"):                          "at least two tables",
		"train":                                         "locate train needs --output",
		"train -o " + at("n.utvi") + " --width 5-1":     "--width is \"5-1\"; it must be a range",
		at("f.tif") + " --net " + at("l.csv"):           at("l.csv"),
		at("f.tif") + " --probability 2":                "--probability is 2",
	} {
		code, _, errs := utvi(t, append([]string{"locate"}, strings.Fields(args)...)...)
		if code == 0 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, says) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, errs, says)
		}
	}
}

// bench locate scores all ways on a scene.
func TestBenchLocate(t *testing.T) {
	code, out, errs := utvi(t, "bench", "locate", "--molecules", "60", "--only", "1.3")
	if code != 0 || strings.Count(out, "\n") != 4 || !strings.Contains(out, "joint CRLB") || !strings.Contains(out, "with the network") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
