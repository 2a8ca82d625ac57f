package main

import (
	"bufio"
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fit that is stopped on its page keeps a model, and in the end has the bits of one
// that nobody watched.
func TestFitLive(t *testing.T) {
	dir := inResin(t)
	args := append([]string{"fit", "resin.csv", "--target", "strength", "--report", "none"}, quickly...)
	args = append(args, "--steps", "4000")
	fit := func(more ...string) *exec.Cmd {
		cmd := exec.Command(binary, append(append([]string{}, args...), more...)...)
		cmd.Dir = dir
		return cmd
	}
	if out, err := fit("--out", "plain.utvi").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	cmd := fit("--out", "live.utvi", "--live")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
	var seen strings.Builder
	for read := bufio.NewScanner(events.Body); read.Scan(); {
		seen.WriteString(read.Text())
		if strings.Contains(read.Text(), `"name":"trial-0-0"`) && strings.Contains(read.Text(), `"stopping":false`) {
			if _, err := http.Post(url+"stop", "", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for lines.Scan() {
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit %d", code)
	}
	for _, want := range []string{`"group":"Candidates, fold 1"`, `"stopping":true`, `"end":{"good":true,"text":"Fit was interrupted; live.utvi holds the best model so far; continue with --resume."`} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("the page never showed %s", want)
		}
	}
	readFile(t, filepath.Join(dir, "live.utvi"))
	if out, err := fit("--out", "live.utvi", "--resume", "--live").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	if !bytes.Equal(readFile(t, filepath.Join(dir, "live.utvi")), readFile(t, filepath.Join(dir, "plain.utvi"))) {
		t.Error("the model has other bits than one that was not watched")
	}
	if code, _, errs := utvi(t, "fit", "x.csv", "--target", "y", "--live=0.0.0.0:80"); code != 2 || !strings.Contains(errs, "this machine only") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
