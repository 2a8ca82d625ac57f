package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"utvi/internal/compute"
)

// The documents were written with these kernels: there their numbers hold to the last digit.
// Other kernels round otherwise and training amplifies that, so that numbers agree roughly.
const kernelsOfDocs = "avx512"

// A step is a command of a document with the output that the document shows.
type step struct {
	where   string // file and line
	command string
	shows   []string // without blank lines
	whole   bool     // nothing of the standard output is left out
}

// documents are all that tell a reader to run utvi, each with the files that its text gives.
func documents(t *testing.T) map[string][]step {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]step{}
	for _, path := range append(paths, "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = steps(filepath.Base(path), string(text))
	}
	return all
}

// steps are the commands behind a dollar sign. What is indented behind one, up to the next, is
// what it prints, even if prose stands between.
func steps(name, text string) []step {
	var all []step
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		code, indented := strings.CutPrefix(line, "    ")
		command, prompt := strings.CutPrefix(code, "$ ")
		switch {
		case fenced || !indented:
		case prompt:
			all = append(all, step{where: fmt.Sprintf("%s:%d", name, i+1), command: command, whole: true})
		case len(all) > 0 && strings.TrimSpace(code) == "…":
			all[len(all)-1].whole = false
		case len(all) > 0 && strings.TrimSpace(code) != "":
			last := &all[len(all)-1]
			last.shows = append(last.shows, code)
		}
	}
	return all
}

// TestDocsNameWhatThereIs parses every command line of utvi in README.md and docs: its command and
// its flags exist.
func TestDocsNameWhatThereIs(t *testing.T) {
	paths, _ := filepath.Glob("../../docs/*.md")
	found := 0
	for _, path := range append(paths, "../../README.md", "../../python/README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			line, code := strings.CutPrefix(line, "    ")
			line = strings.TrimPrefix(line, "$ ")
			rest, ours := strings.CutPrefix(line, "utvi ")
			if !code || !ours {
				continue
			}
			found++
			err := parses(rest)
			if err != nil {
				t.Errorf("%s:%d: %s: %v", filepath.Base(path), i+1, line, err)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d command lines were found", found)
	}
	for _, wrong := range []string{"fit x.csv --no-such-flag", "fitt x.csv", "sweep plann"} {
		if parses(wrong) == nil {
			t.Errorf("%q passes", wrong)
		}
	}
}

// word is a word of a shell's command line.
var word = regexp.MustCompile(`'[^']*'|[^\s']+`)

// parses finds the command of a line and reads its flags, and runs nothing.
func parses(line string) error {
	line, _, _ = strings.Cut(line, " #")
	line = strings.TrimSuffix(line, " \\")
	line, _, _ = strings.Cut(line, " > ")
	line, _, _ = strings.Cut(line, " | ")
	var args []string
	for _, w := range word.FindAllString(line, -1) {
		args = append(args, strings.Trim(w, "'"))
	}
	cmd, rest, err := newRoot().Find(args)
	if err != nil {
		return err
	}
	if strings.Contains(line, "--help") {
		return nil
	}
	err = cmd.ParseFlags(rest)
	if err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// notRun says why a command of a document is not run.
var notRun = map[string]string{
	"go install ":                  "it would change the machine",
	"export PATH":                  "it would change the machine",
	"docker build":                 "CI builds the image with buildah (.ci/image)",
	"kubectl apply":                "CI has no cluster; internal/kubernetes/strict reads the manifest",
	"--engine slurm":               "a real Slurm runs it in TestSlurm",
	"utvi sweep status":            "it shows a sweep that was stopped half way; TestSweep stops one",
	"python3 train.py":             "it needs PyTorch: .ci/onnx runs it",
	"utvi bayes net.onnx":          "it needs what PyTorch trained: .ci/onnx runs it",
	"utvi export bayes":            "it needs what PyTorch trained: .ci/onnx runs it",
	"node predict.js":              "it needs what PyTorch trained: .ci/onnx runs it",
	"utvi import net.onnx":         "it needs what PyTorch trained: TestImport has its own",
	"utvi import state":            "it needs what PyTorch trained: CI's conformance test has its own",
	"utvi bench uci --data uci":    "the data are not part of the repository",
	"utvi predict price.utvi days": "the tables are a reader's own: TestPredictPlan has its own",
	"bench/trees/trees.py --dat":   "the data are not part of the repository",
	"utvi locate train":            "it trains for minutes; TestSameFile of internal/locate/learn makes small ones",
	"--net plain.utvi":             "it needs what the command before it trained",
}

// files are those that the text of a document gives: the block with a line, as a file.
var files = map[string]map[string]string{
	"sweeps.md": {"study.yaml": "# study.yaml"},
	"onnx.md":   {"table.js": `create("strength.onnx")`},
}

// TestDocs runs the documents' commands, one after another, and compares what they print. Those
// that train for long are run if UTVI_DOCS is set, as CI does.
func TestDocs(t *testing.T) {
	for name, all := range documents(t) {
		if len(all) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name != "sweeps.md" && os.Getenv("UTVI_DOCS") == "" {
				t.Skip("it trains for minutes; UTVI_DOCS=1 runs it")
			}
			dir := t.TempDir()
			prepare(t, name, dir)
			for _, s := range all {
				if why := leftOut(s.command); why != "" {
					t.Logf("%s: not run: %s: %s", s.where, s.command, why)
					continue
				}
				s.run(t, dir)
			}
		})
	}
}

// leftOut says why a command is not run; nothing if it is.
func leftOut(command string) string {
	if strings.HasPrefix(command, "node ") && os.Getenv("UTVI_NODE_MODULES") == "" {
		return "UTVI_NODE_MODULES names no folder with onnxruntime-node"
	}
	for part, why := range notRun {
		if strings.Contains(command, part) {
			return why
		}
	}
	return ""
}

// prepare writes the files that a document's text gives.
func prepare(t *testing.T, name, dir string) {
	path := filepath.Join("../../docs", name)
	if name == "README.md" {
		path = "../../README.md"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for file, line := range files[name] {
		err := os.WriteFile(filepath.Join(dir, file), []byte(block(string(text), line)), 0o666)
		if err != nil {
			t.Fatal(err)
		}
	}
	if modules := os.Getenv("UTVI_NODE_MODULES"); modules != "" {
		err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules"))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// block is the fenced or indented block that holds a line.
func block(text, line string) string {
	at := strings.Index(text, line)
	if at < 0 {
		return ""
	}
	if open := strings.LastIndex(text[:at], "\n```"); open > strings.LastIndex(text[:at], "\n\n    ") || !strings.HasPrefix(text[strings.LastIndex(text[:at], "\n")+1:], "    ") {
		_, code, _ := strings.Cut(text[open+1:], "\n")
		code, _, _ = strings.Cut(code, "\n```")
		return code + "\n"
	}
	code, _, _ := strings.Cut(text[strings.LastIndex(text[:at], "\n\n")+2:], "\n\n")
	return strings.ReplaceAll("\n"+code, "\n    ", "\n")[1:] + "\n"
}

// run runs a command of a document and compares what it prints.
func (s step) run(t *testing.T, dir string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("bash", "-o", "pipefail", "-c", s.command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", s.where, s.command, err, errs.String())
	}
	printed, told := printedLines(out.String()), printedLines(errs.String())
	others := strings.HasPrefix(s.command, "node ")
	for _, want := range s.shows {
		switch {
		case next(&printed, want, s.whole, others):
		case next(&told, want, false, others):
		default:
			t.Errorf("%s: %s\nthe document shows\n%s\nwhich is not printed here:\n%s%s", s.where, s.command, want, out.String(), errs.String())
			return
		}
	}
	if s.whole && len(s.shows) > 0 && len(printed) > 0 {
		t.Errorf("%s: %s\nprints more than the document shows: %s", s.where, s.command, printed[0])
	}
}

// printedLines are the lines that are not blank.
func printedLines(s string) []string {
	var all []string
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			all = append(all, strings.TrimRight(line, "\r\n"))
		}
	}
	return all
}

// next takes lines up to one that agrees, or no line; at is whether it must be the first.
func next(all *[]string, want string, first, others bool) bool {
	for i, line := range *all {
		if agree(line, want, others) {
			*all = (*all)[i+1:]
			return true
		}
		if first {
			return false
		}
	}
	return false
}

var numeral = regexp.MustCompile(`[-−]?\d+(\.\d+)?(e[-+]?\d+)?`)

// agree compares a line with that of a document: to the last digit with the kernels that the
// document was written with, else numbers roughly and the text around them. Numbers of another
// program (others) agree roughly everywhere.
func agree(got, want string, others bool) bool {
	if compute.Family() == kernelsOfDocs && !others {
		return strings.TrimSpace(got) == strings.TrimSpace(want)
	}
	if squeeze(got) != squeeze(want) {
		return false
	}
	a, b := numeral.FindAllString(got, -1), numeral.FindAllString(want, -1)
	for i := range a {
		x, y := valueOf(a[i]), valueOf(b[i])
		if math.Abs(x-y) > 0.3*max(math.Abs(x), math.Abs(y))+0.15 {
			return false
		}
	}
	return true
}

// squeeze is a line without its numbers, and with single blanks.
func squeeze(s string) string {
	return strings.Join(strings.Fields(numeral.ReplaceAllString(s, "#")), " ")
}

func valueOf(s string) float64 {
	v, _ := strconv.ParseFloat(strings.ReplaceAll(s, "−", "-"), 64)
	return v
}
