package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"path"
	"strings"
	"time"
)

// maintainer stands in packages that say who made them.
const maintainer = "The utvi authors <utvi@localhost>"

const debianText = ` utvi fits Bayesian neural networks to tables and images, predicts with error
 bars and serves predictions over HTTP and gRPC. A mean and a variance per unit
 go through the network in one pass, without sampling.
`

// debian is the package for Debian and Ubuntu: the program where the system looks for it.
func debian(c commit, b program, common []file) (file, error) {
	files, err := debianFiles(c, b, common)
	if err != nil {
		return file{}, err
	}
	size := 0
	var sums bytes.Buffer
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name)
	}
	control := fmt.Sprintf("Package: utvi\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n"+
		"Depends: libc6\nSection: science\nPriority: optional\nDescription: Bayesian neural networks by moment propagation\n%s",
		c.debian(), b.debian, maintainer, size, debianText)
	about, err := tarGz([]file{{name: "control", data: []byte(control)}, {name: "md5sums", data: sums.Bytes()}}, c.time, "./")
	if err != nil {
		return file{}, err
	}
	data, err := tarGz(files, c.time, "./")
	if err != nil {
		return file{}, err
	}
	name := fmt.Sprintf("utvi_%s_%s.deb", c.debian(), b.debian)
	return file{name: name, data: ar(c.time, []file{
		{name: "debian-binary", data: []byte("2.0\n")},
		{name: "control.tar.gz", data: about},
		{name: "data.tar.gz", data: data},
	})}, nil
}

// debianFiles puts the files where Debian's programs look for them.
func debianFiles(c commit, b program, common []file) ([]file, error) {
	docs := "usr/share/doc/utvi/"
	files := []file{
		{name: "usr/bin/utvi", data: b.data, executable: true},
		{name: docs + "utvi.cdx.json", data: b.bill},
	}
	places := map[string]string{
		"completions/utvi.bash": "usr/share/bash-completion/completions/utvi",
		"completions/_utvi":     "usr/share/zsh/vendor-completions/_utvi",
		"completions/utvi.fish": "usr/share/fish/vendor_completions.d/utvi.fish",
	}
	var small []file // texts that are kept compressed
	for _, f := range common {
		switch {
		case strings.HasPrefix(f.name, "man/"):
			small = append(small, file{name: "usr/share/man/man1/" + path.Base(f.name), data: f.data})
		case places[f.name] != "":
			files = append(files, file{name: places[f.name], data: f.data})
		case f.name == "CHANGELOG.md":
			small = append(small, file{name: docs + f.name, data: f.data})
		case strings.HasPrefix(f.name, "docs/"):
			files = append(files, file{name: docs + strings.TrimPrefix(f.name, "docs/"), data: f.data})
		case f.name == "LICENSE":
			files = append(files, file{name: docs + "copyright", data: append(f.data, b.licences...)})
		}
	}
	small = append(small, file{name: docs + "changelog", data: debianChangelog(c)})
	for _, f := range small {
		data, err := gzipped(f.data, gzip.BestCompression) // as Debian's policy asks
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: f.name + ".gz", data: data})
	}
	return sorted(files), nil
}

func debianChangelog(c commit) []byte {
	return fmt.Appendf(nil, "utvi (%s) unstable; urgency=medium\n\n  * CHANGELOG.md.gz beside this file lists what changed.\n\n -- %s  %s\n", c.debian(), maintainer, c.time.Format(time.RFC1123Z))
}

// ar packs files as a Debian package does.
func ar(at time.Time, files []file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", f.name, at.Unix(), 0, 0, "100644", len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
