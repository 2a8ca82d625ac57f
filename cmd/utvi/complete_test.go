package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completions asks as the scripts of the shells do.
func completions(t *testing.T, line ...string) []string {
	t.Helper()
	code, out, _ := utvi(t, append([]string{"__completeNoDesc"}, line...)...)
	if code != 0 {
		t.Fatalf("%q: exit %d", line, code)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[:len(lines)-1] // the last one tells the shell how to go on
}

// Flags complete to what their text in the help names, and to columns of the table.
func TestCompletion(t *testing.T) {
	table := filepath.Join(t.TempDir(), "rows.csv")
	text := "size,\"rooms, all\",town,price\n1,2,Graz,4\n2,3,Wien,5\n"
	if err := os.WriteFile(table, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		line []string
		want []string
	}{
		{[]string{"fit", table, "--target", ""}, []string{"size", `"rooms, all"`, "town", "price"}},
		{[]string{"fit", table, "--ignore", "size,t"}, []string{"size,town"}},
		{[]string{"fit", table, "--weight", "p"}, []string{"price"}},
		{[]string{"fit", table, "--input-std", "s"}, []string{"size="}},
		{[]string{"predict", "m.utvi", table, "--keep", "s"}, []string{"size"}},
		{[]string{"bayes", "net.onnx", "--data", table, "--target", "t"}, []string{"town"}},
		{[]string{"fit", table, "--header", "no", "--target", ""}, []string{"c1", "c2", "c3", "c4"}},
		{[]string{"fit", "-", "--target", ""}, nil},
		{[]string{"fit", filepath.Dir(table), "--target", ""}, nil},
		{[]string{"fit", table, "--task", ""}, []string{"auto", "regression", "classification"}},
		{[]string{"fit", table, "--rule", "g"}, []string{"gh(9)", "genut(0,3)"}},
		{[]string{"fit", table, "--activation", "soft"}, []string{"softplus", "softsign"}},
		{[]string{"moments", "--rule", "g"}, []string{"gh", "genut"}},
		{[]string{"calibrate", "m.utvi", table, "--method", "scale,i"}, []string{"scale,isotonic"}},
		{[]string{"predict", ""}, []string{"utvi", "safetensors"}},
		{[]string{"serve", "a.utvi", ""}, []string{"utvi", "safetensors"}},
		{[]string{"sweep", "run", ""}, []string{"json"}},
		{[]string{"help", "w"}, []string{"words"}},
		{[]string{"comp"}, []string{"completion"}},
		{[]string{"completion", ""}, shells},
	} {
		if got := completions(t, x.line...); !slices.Equal(got, x.want) {
			t.Errorf("%q: %q, want %q", x.line, got, x.want)
		}
	}
}

// No mark is left in a text for people, and columns and folders are marked.
func TestFlagTexts(t *testing.T) {
	left := regexp.MustCompile("<[^<>]*>") // 'column<number' is none
	err := eachCommand(newRoot(), func(cmd *cobra.Command) error {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if left.MatchString(f.Usage) {
				t.Errorf("%s --%s: a mark is left in %q", cmd.CommandPath(), f.Name, f.Usage)
			}
			if strings.HasPrefix(f.Usage, "column") || strings.HasPrefix(f.Usage, "folder") {
				t.Errorf("%s --%s: %q does not mark what it names", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each shell gets a script; that of bash is read by bash.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		code, out, errs := utvi(t, "completion", shell)
		if code != 0 || !strings.Contains(out, "utvi") {
			t.Errorf("%s: exit %d, %s", shell, code, errs)
		}
		if shell != "bash" {
			continue
		}
		bash := exec.Command("bash", "-n")
		bash.Stdin = strings.NewReader(out)
		if complaint, err := bash.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, complaint)
		}
	}
	if code, _, errs := utvi(t, "completion", "tcsh"); code != 2 || !strings.Contains(errs, "bash, zsh, fish, powershell") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// There is a manual page for every command, and it says what the help says.
func TestManual(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man")
	if code, _, errs := utvi(t, "help", "--man", folder); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	err := eachCommand(newRoot(), func(cmd *cobra.Command) error {
		page, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		text := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(string(page))
		wanted := []string{cmd.Short}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			wanted = append(wanted, "--"+f.Name, usage)
		})
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("the page of %s lacks %q", cmd.CommandPath(), want)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
