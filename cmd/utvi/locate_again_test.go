package main

import (
	"bufio"
	"bytes"
	little "encoding/binary"
	"fmt"
	"image/png"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"utvi/internal/locate/frames"
)

// stackOf writes frames with molecules.
func stackOf(t *testing.T, path string, args ...string) string {
	t.Helper()
	code, _, errs := utvi(t, append([]string{"locate", "simulate", "-o", path}, args...)...)
	if code != 0 {
		t.Fatal(errs)
	}
	return path
}

var standardCamera = []string{"--offset", "500", "--read-noise", "17.3"}

// A run that was killed or told to end, wherever, and continued writes the bytes of one that was not,
// table and page; what it had done is not lost unless the user says so.
func TestLocateResume(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signal can be sent there")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	stack := stackOf(t, at("f.tif"), "--frames", "600", "--density", "4")
	args := func(out string, more ...string) []string {
		page := strings.TrimSuffix(out, filepath.Ext(out)) + ".html"
		return append(append([]string{"locate", stack, "-o", at(out), "--report", at(page)}, standardCamera...), more...)
	}
	if code, _, errs := utvi(t, args("whole.hdf5")...); code != 0 {
		t.Fatal(errs)
	}
	ends := []os.Signal{syscall.SIGKILL, os.Interrupt}
	stops := 0
	for turn, end := range ends {
		more := []string{"--resume"}
		if turn == 0 {
			more = nil
		}
		cmd := exec.Command(binary, args("a.hdf5", more...)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Process.Kill()
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		enough := int64((turn + 1) * 100_000) // bytes: some frames, but by far not all
		for start := time.Now(); ; time.Sleep(time.Millisecond) {
			info, err := os.Stat(at("a.hdf5.checkpoint"))
			if err == nil && info.Size() > enough {
				break
			}
			if time.Since(start) > 5*time.Minute { // a hang, on whatever machine
				t.Fatal("no molecules")
			}
		}
		cmd.Process.Signal(end)
		<-ended
		_, err := os.Stat(at("a.hdf5.checkpoint"))
		if err != nil { // the processor was faster than the signal
			t.Logf("%v came too late", end)
			continue
		}
		stops++
		if code := cmd.ProcessState.ExitCode(); end == os.Interrupt && (code != exitInterrupted || !strings.Contains(errs.String(), "a.hdf5 holds frames 1 to ") || !strings.Contains(errs.String(), "; continue with --resume")) {
			t.Errorf("exit %d, %s", code, errs.String())
		}
		if code, _, errs := utvi(t, args("a.hdf5")...); code != 1 || !strings.Contains(errs, "holds a run that was stopped; continue it with --resume, or start again with --fresh") {
			t.Errorf("exit %d: %s", code, errs)
		}
		if code, _, errs := utvi(t, args("a.hdf5", "--resume", "--threshold", "5")...); code != 1 || !strings.Contains(errs, "it holds another stack or other settings; run again as before, or start again with --fresh") {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
	if stops == 0 {
		t.Fatal("no run was stopped")
	}
	if code, _, errs := utvi(t, args("a.hdf5", "--resume")...); code != 0 {
		t.Fatal(errs)
	}
	for _, ending := range []string{".hdf5", ".yaml", ".html"} {
		if !bytes.Equal(readFile(t, at("a"+ending)), readFile(t, at("whole"+ending))) {
			t.Errorf("a%s has other bytes than that of a run that was not stopped", ending)
		}
	}
	if left, _ := filepath.Glob(at("*.checkpoint*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	for says, args := range map[string][]string{
		"nothing to resume":          args("a.hdf5", "--resume"),
		"give only one of them":      args("a.hdf5", "--resume", "--fresh"),
		"leaves nothing to go on fr": append([]string{"locate", stack, "-o", "-", "--fresh"}, standardCamera...),
	} {
		if code, _, errs := utvi(t, args...); code == 0 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, says) {
			t.Errorf("exit %d, %q; want %q", code, errs, says)
		}
	}
}

// A run that cannot go on keeps what it has found, and goes on when it can.
func TestLocateFails(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	stack, err := frames.Open(stackOf(t, at("f.tif"), "--frames", "700", "--density", "0.3"))
	if err != nil {
		t.Fatal(err)
	}
	r := stack.NewReader()
	defer r.Close()
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }\n", stack.Frames, stack.Height, stack.Width)
	whole := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	whole = append(whole, header...)
	begin := len(whole)
	frame := make([]float32, stack.Width*stack.Height)
	for i := range stack.Frames {
		if err := r.Read(i, frame); err != nil {
			t.Fatal(err)
		}
		for _, x := range frame {
			whole = little.LittleEndian.AppendUint32(whole, math.Float32bits(x))
		}
	}
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(at("f.npy"), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := func(out string, more ...string) []string {
		return append(append([]string{"locate", at("f.npy"), "-o", at(out)}, standardCamera...), more...)
	}
	write(whole)
	if code, _, errs := utvi(t, args("whole.csv")...); code != 0 {
		t.Fatal(errs)
	}
	spoilt := bytes.Clone(whole)
	const bad = 599 // not one of the 512 from which a run learns
	copy(spoilt[begin+bad*4*len(frame):], []byte{0, 0, 0xc0, 0x7f})
	write(spoilt)
	code, _, errs := utvi(t, args("f.csv")...)
	if code != 1 || !strings.Contains(errs, "frame 600: a pixel is not a finite number; what was found in 599 frames is kept: continue with --resume") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(at("f.csv")); err == nil {
		t.Error("a table of a run that failed is written")
	}
	write(whole)
	if code, _, errs := utvi(t, args("f.csv", "--resume")...); code != 0 {
		t.Fatal(errs)
	}
	if !bytes.Equal(readFile(t, at("f.csv")), readFile(t, at("whole.csv"))) {
		t.Error("a run that failed and went on found something else")
	}
}

// The stacks of folders, found by the trials of a plan, give the tables and pages of stacks that are
// found one by one, whoever ran the trials and however often.
func TestLocatePlan(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"day", "day/late", "day/late/series"} {
		if err := os.Mkdir(at(d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	a := stackOf(t, at("day/a.tif"), "--frames", "70", "--seed", "2")
	b := stackOf(t, at("day/late/a.tif"), "--frames", "40", "--seed", "3")
	stackOf(t, at("day/late/series/1.tif"), "--frames", "1", "--seed", "4")
	stackOf(t, at("day/late/series/2.tif"), "--frames", "1", "--seed", "5")
	plan := at("plan.json")
	args := append([]string{"locate", at("day"), "--plan", plan, "--frames-per-trial", "30", "--format", "hdf5"}, standardCamera...)
	if code, out, errs := utvi(t, args...); code != 0 || out != "Wrote 6 trials to "+plan+".\n" {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := utvi(t, "sweep", "trial", plan, "--index", "1"); code != 0 {
		t.Fatal(errs)
	}
	if _, _, errs := utvi(t, "sweep", "collect", plan); !strings.Contains(errs, "the tables of 3 stacks are not written: trials are not done") {
		t.Error(errs)
	}
	if code, _, errs := utvi(t, "sweep", "run", plan, "--jobs", "2"); code != 0 {
		t.Fatal(errs)
	}
	collect := func() {
		t.Helper()
		code, _, errs := utvi(t, "sweep", "collect", plan)
		if code != 0 || !strings.Contains(errs, "in 70 frames; its page is ") {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	collect()
	for name, stack := range map[string]string{"a": a, "a-2": b, "series": at("day/late/series")} {
		one := append([]string{"locate", stack, "-o", at(name + ".hdf5"), "--report", at(name + ".html")}, standardCamera...)
		if code, _, errs := utvi(t, one...); code != 0 {
			t.Fatal(errs)
		}
		for _, ending := range []string{".hdf5", ".yaml", ".html"} {
			if !bytes.Equal(readFile(t, at("plan.summary/"+name+".locs"+ending)), readFile(t, at(name+ending))) {
				t.Errorf("%s%s differs from what one process writes", name, ending)
			}
		}
	}
	journals, _ := filepath.Glob(at("plan.trials/a_1-*.locs"))
	if len(journals) != 1 {
		t.Fatal(journals)
	}
	if err := os.WriteFile(journals[0], []byte("torn"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := utvi(t, "sweep", "collect", plan); code == 0 || !strings.Contains(errs, "is not what its trial wrote; remove ") {
		t.Errorf("exit %d: %s", code, errs)
	}
	// A trial that was killed while it wrote leaves half a journal, and goes on from there.
	result := strings.TrimSuffix(journals[0], ".locs") + ".result.json"
	if err := os.Remove(result); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journals[0], nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := utvi(t, "sweep", "run", plan); code != 0 {
		t.Fatal(errs)
	}
	collect()
	if !bytes.Equal(readFile(t, at("plan.summary/a.locs.hdf5")), readFile(t, at("a.hdf5"))) {
		t.Error("a trial that was continued found something else")
	}
}

// What a plan cannot hold is refused before anything is written.
func TestLocatePlanRefusals(t *testing.T) {
	dir := t.TempDir()
	stack := stackOf(t, filepath.Join(dir, "a.tif"), "--frames", "3")
	plan := filepath.Join(dir, "plan.json")
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		stack + " --plan " + plan + " -o x.csv":             "--output and --plan exclude each other",
		stack + " --plan " + plan + " --live":               "--live and --plan exclude each other",
		stack + " --frames-per-trial 5":                     "--frames-per-trial applies to a plan",
		stack + " --plan " + plan + " --format xls":         `--format is "xls"`,
		stack + " --plan " + plan + " --frames-per-trial 0": "--frames-per-trial is 0",
		stack + " --plan " + plan + " --frames 1-9":         "there are only 3 frames",
		empty + " --plan " + plan:                           "there is no stack in this folder",
		stack + "x --plan " + plan:                          "no such file",
		stack + " --plan " + plan + " --net " + stack:       stack,
	} {
		code, out, errs := utvi(t, append([]string{"locate"}, strings.Fields(args)...)...)
		if code == 0 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, says) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, errs, says)
		}
	}
	if _, err := os.Stat(plan); err == nil {
		t.Error("a plan is written")
	}
}

// A run that is watched shows a picture that grows; stopped on its page it keeps what it has found, and in
// the end its table has the bytes of one that nobody watched.
func TestLocateLive(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	stack := stackOf(t, at("f.tif"), "--frames", "1500", "--density", "4")
	args := func(out string, more ...string) []string {
		return append(append([]string{"locate", stack, "-o", at(out)}, standardCamera...), more...)
	}
	if code, _, errs := utvi(t, args("plain.csv")...); code != 0 {
		t.Fatal(errs)
	}
	cmd := exec.Command(binary, args("live.csv", "--live")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	url, ok := strings.CutPrefix(lines.Text(), "live page: ")
	if !ok {
		t.Fatalf("the first line is %q", lines.Text())
	}
	events, err := http.Get(url + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	seen, pictures := "", 0
	read := bufio.NewScanner(events.Body)
	read.Buffer(nil, 1<<20)
	for read.Scan() {
		if read.Text() == "" {
			continue
		}
		seen = read.Text()
		if strings.Contains(seen, `"picture":`) && strings.Contains(seen, `"stopping":false`) && pictures == 0 {
			pictures++
			r, err := http.Get(url + "picture.png")
			if err != nil {
				t.Fatal(err)
			}
			p, err := png.Decode(r.Body)
			r.Body.Close()
			if err != nil || p.Bounds().Dx() < 100 {
				t.Errorf("the picture: %v", err)
			}
			if _, err := http.Post(url+"stop", "", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for lines.Scan() {
	}
	cmd.Wait()
	if pictures == 0 || !strings.Contains(seen, `"name":"Localisations","value":"`) || !strings.Contains(seen, `"title":"Error bars"`) || !strings.Contains(seen, `"end":{"good":true,"text":"`) {
		t.Errorf("the page at the end: %s", seen)
	}
	switch code := cmd.ProcessState.ExitCode(); code {
	case exitInterrupted:
		if code, _, errs := utvi(t, args("live.csv", "--resume")...); code != 0 {
			t.Fatal(errs)
		}
	case 0: // it was faster than the button
	default:
		t.Fatalf("exit %d", code)
	}
	if !bytes.Equal(readFile(t, at("live.csv")), readFile(t, at("plain.csv"))) {
		t.Error("the table has other bytes than one that was not watched")
	}
}
