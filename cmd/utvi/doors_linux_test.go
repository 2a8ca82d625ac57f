package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"utvi/fn"
	"utvi/model"
	"utvi/nn"
)

// odd are files that are none that a command can read: they never end, are not files or are far
// larger than the memory. The large one begins as a model does.
func odd(t *testing.T, folder, sound string) map[string]string {
	t.Helper()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(folder, "huge")
	if err := os.WriteFile(huge, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Fatal("this file system has no holes:", err)
	}
	return map[string]string{pipe: "a pipe", "/dev/zero": "a device", folder: "a folder", huge: "of memory"}
}

// Every command that opens a file refuses such files in one sentence, and waits for nothing.
func TestDoors(t *testing.T) {
	folder := t.TempDir()
	net, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 3}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	sound := filepath.Join(folder, "net.safetensors")
	if err := net.Save(sound); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(folder, "rows.csv")
	if err := os.WriteFile(rows, []byte("a,b,y\n1,2,3\n2,3,4\n3,4,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const bare = "serve --http 127.0.0.1:0 --grpc none "
	models := []string{"predict FILE " + rows, "eval FILE " + rows, "calibrate FILE " + rows, bare + "FILE", "verify FILE", "inspect FILE", "export FILE",
		"import FILE", "bayes FILE --target y --data " + rows}
	others := []string{"fit FILE --target y", "bayes " + sound + " --target y --data FILE", bare + sound + " --token-file FILE",
		bare + sound + " --tls-cert FILE --tls-key FILE", "import " + sound + " --out x --layers FILE", "fit --config FILE " + rows + " --target y", "sweep run FILE", "sweep plan FILE"}
	for file, reason := range odd(t, folder, sound) {
		commands := append([]string{}, models...)
		if reason != "of memory" { // tables are read row by row, and what is read whole is small
			commands = append(commands, others...)
		}
		for _, c := range commands {
			want := 1
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				if strings.HasSuffix(c, "--target y --data FILE") {
					want = 2 // such a folder has its own way of naming classes
				}
				c = strings.Replace(c, "fit FILE --target y", "fit FILE", 1) // a folder of images needs no target
			}
			code, _, stderr := utvi(t, strings.Fields(strings.ReplaceAll(c, "FILE", file))...)
			if code != want || !strings.Contains(stderr, file) || !strings.Contains(stderr, reason) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: %d %s", strings.ReplaceAll(c, "FILE", file), code, stderr)
			}
		}
	}
}
