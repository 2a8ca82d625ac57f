package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"utvi/internal/provenance"
)

// A program is built for a platform.
type program struct {
	platform
	data     []byte
	bill     []byte // its modules, as CycloneDX
	licences []byte // those of its modules
}

func build(c commit, p platform, work string) (program, error) {
	b := program{platform: p}
	path := filepath.Join(work, p.name+"-"+p.binary())
	if err := compile(c, p, path); err != nil {
		return b, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return b, err
	}
	b.data = data
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return b, err
	}
	var bill bytes.Buffer
	if err := provenance.WriteBill(&bill, info); err != nil {
		return b, err
	}
	b.bill = bill.Bytes()
	b.licences, err = licences(info)
	return b, err
}

// compile says the commit by the linker, not by Go's own stamp, which depends on how the
// repository was cloned.
func compile(c commit, p platform, path string) error {
	stamp := fmt.Sprintf("-s -w -X 'utvi/internal/provenance.stamp=%s %s'", c.version, c.hash)
	args := []string{"build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=" + stamp, "-o", path}
	tags := "-tags=page"
	if p.static {
		tags += ",nocuda"
	}
	args = append(args, tags)
	cmd := exec.Command("go", append(args, "./cmd/utvi")...)
	// Whatever else the caller's environment chooses would change the bytes.
	cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// generatePage builds the program that pages in folders run, which every program has inside.
func generatePage() error {
	cmd := exec.Command("go", "generate", "./internal/browser")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// host is the platform of this machine.
func host() (platform, error) {
	for _, p := range platforms {
		if p.os == runtime.GOOS && p.arch == runtime.GOARCH {
			return p, nil
		}
	}
	return platform{}, fmt.Errorf("there is no program for %s/%s, which would write its completions", runtime.GOOS, runtime.GOARCH)
}

// commonFiles are the same for every platform: documents, and completions and manual pages, which the program
// itself writes, and texts of the repository.
func commonFiles(c commit, work string) ([]file, error) {
	p, err := host()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(work, p.name+"-"+p.binary())
	if err := compile(c, p, path); err != nil {
		return nil, err
	}
	var all []file
	for shell, name := range map[string]string{"bash": "utvi.bash", "zsh": "_utvi", "fish": "utvi.fish", "powershell": "utvi.ps1"} {
		text, err := exec.Command(path, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("completion %s: %w", shell, err)
		}
		all = append(all, file{name: "completions/" + name, data: text})
	}
	man := filepath.Join(work, "man")
	if err := exec.Command(path, "help", "--man", man).Run(); err != nil {
		return nil, fmt.Errorf("help --man: %w", err)
	}
	pages, err := os.ReadDir(man)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(man, page.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: "man/" + page.Name(), data: text})
	}
	texts, err := documents()
	if err != nil {
		return nil, err
	}
	return sorted(append(all, texts...)), nil
}
