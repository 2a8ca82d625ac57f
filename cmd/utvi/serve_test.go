package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
)

// A served model survives kill -9: a new process answers with the same bits. SIGTERM
// ends the process with status 0.
func TestServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	net, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 4}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	net.Likelihood = likelihood.Normal{}
	folder := t.TempDir()
	path, token := filepath.Join(folder, "net.safetensors"), filepath.Join(folder, "token")
	if err := net.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(token, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var before string
	for _, end := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		c := exec.CommandContext(t.Context(), binary, "serve", "n@3="+path, "--http", "127.0.0.1:0", "--grpc", "none", "--token-file", token)
		log, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(log).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		at := regexp.MustCompile(`http=(\S+)`).FindStringSubmatch(line)
		if at == nil {
			t.Fatal(line)
		}
		go io.Copy(io.Discard, log)
		q, _ := http.NewRequest("POST", "http://"+at[1]+"/predict/n", bytes.NewReader([]byte(`{"rows":[[1,2]]}`)))
		q.Header.Set("Authorization", "Bearer s3cret")
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != 200 || !strings.Contains(string(text), `"version":"3"`) || before != "" && before != string(text) {
			t.Errorf("%d %s, before %s", a.StatusCode, text, before)
		}
		before = string(text)
		c.Process.Signal(end)
		if err := c.Wait(); (err == nil) != (end == syscall.SIGTERM) {
			t.Errorf("%v: %v", end, err)
		}
	}
}

func TestServeMisuse(t *testing.T) {
	for args, says := range map[string]string{
		"serve":                         "needs at least one model file",
		"serve a/b=x":                   `cannot be named "a/b"`,
		"serve x.utvi --log xml":        `--log is "xml"; choose text or json`,
		"serve x.utvi --tls-cert c.pem": "belong together",
		"serve x.utvi --max-rows 0":     "--max-rows must be above 0",
		"bench serve --soak -1s":        "--soak must be above 0",
		"serve x.utvi --max-time soon":  "--max-time takes a time such as 30s, not",
	} {
		code, _, stderr := utvi(t, strings.Fields(args)...)
		if code != 2 || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d %s", args, code, stderr)
		}
	}
	for args, says := range map[string]string{
		"serve nosuch.utvi":                     "cannot read nosuch.utvi: no such file",
		"serve main.go":                         "main.go",
		"serve x=nosuch.utvi --token-file none": "none",
	} {
		code, _, stderr := utvi(t, strings.Fields(args)...)
		if code != 1 || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d %s", args, code, stderr)
		}
	}
}

// The server of a program ends with it: when the pipe to it closes.
func TestServeUntilStdinEnds(t *testing.T) {
	net, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.safetensors")
	if err := net.Save(path); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, "serve", path, "--http", "127.0.0.1:0", "--grpc", "none", "--until-stdin-ends")
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	for line := ""; !strings.Contains(line, "serving"); {
		line, err = lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || !strings.Contains(string(rest), "stopping") {
		t.Errorf("%v: %s", err, rest)
	}
}
