package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"utvi/serve"
)

// What is moved over a model and is no file, never ends or does not fit is refused in a
// sentence; the model before it answers meanwhile, and another model is still reloaded.
func TestReloadOfOddFiles(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "m.utvi")
	other := filepath.Join(folder, "other.utvi")
	sound := read(t, strength())
	replace(t, path, sound)
	replace(t, other, sound)
	r := start(t, serve.Config{Models: []serve.Source{{Name: "m", Path: path}, {Name: "other", Path: other}}, Reload: 5 * time.Millisecond}, serve.Listen{})
	wait := func(text string, times int) {
		t.Helper()
		for end := time.Now().Add(serve.Patience); strings.Count(r.log.String(), text) < times; time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%q did not happen %d times:\n%s", text, times, r.log)
			}
		}
	}
	made := filepath.Join(folder, "made")
	var refusals []string
	for i, c := range []struct {
		what string
		make func() error
		says string
	}{
		{"a pipe", func() error { return syscall.Mkfifo(made, 0o600) }, "it is a pipe, not a regular file"},
		{"a device", func() error { return os.Symlink("/dev/zero", made) }, "it is a device, not a regular file"},
		{"a folder", func() error { return os.Mkdir(made, 0o700) }, "it is a folder"},
		{"a file of a terabyte", func() error {
			if err := os.WriteFile(made, sound, 0o600); err != nil {
				return err
			}
			return os.Truncate(made, 1<<40)
		}, "of memory"},
	} {
		if err := c.make(); err != nil {
			t.Fatal(c.what, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(made, path); err != nil {
			t.Fatal(err)
		}
		wait(c.says, 1)
		refusals = append(refusals, c.says)
		if code, _, text := r.send("POST", "/predict/m", `{"rows":[`+goodRow+`]}`); code != 200 {
			t.Errorf("after %s: %d %s", c.what, code, text)
		}
		replace(t, other, [][]byte{read(t, another()), sound}[i%2])
		wait("the changed file was loaded", i+1)
	}
	replaced := path + ".sound"
	if err := os.WriteFile(replaced, read(t, another()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replaced, path); err != nil {
		t.Fatal(err)
	}
	wait("the changed file was loaded", 5)
	for _, says := range refusals {
		if n := strings.Count(r.log.String(), says); n != 1 {
			t.Errorf("%q is logged %d times; a file is tried once", says, n)
		}
	}
	failures := func(name string) string {
		return metric(r, `utvi_model_reload_failures_total{model="`+name+`",version="1"}`)
	}
	if m, other := failures("m"), failures("other"); m < "4" || other != "0" {
		t.Errorf("%s reloads of m failed, %s of the other", m, other)
	}
}
