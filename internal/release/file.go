package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A file stands in a package, or is one.
type file struct {
	name       string
	data       []byte
	executable bool
}

func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// sorted orders files by name.
func sorted(files []file) []file {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}

// tarGz packs files, with the folders that they stand in, all of one time and of root.
func tarGz(files []file, at time.Time, prefix string) ([]byte, error) {
	var b bytes.Buffer
	if err := writeTar(&b, files, at, prefix); err != nil {
		return nil, err
	}
	return gzipped(b.Bytes(), gzip.DefaultCompression)
}

// writeTar writes names behind a prefix, which is "" or ends in a slash.
func writeTar(w io.Writer, files []file, at time.Time, prefix string) error {
	t := tar.NewWriter(w)
	made := map[string]bool{}
	head := tar.Header{ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
	for _, f := range files {
		name := prefix + f.name
		for i, c := range name {
			folder := name[:i+1]
			if c != '/' || made[folder] {
				continue
			}
			made[folder] = true
			h := head
			h.Typeflag = tar.TypeDir
			h.Name = folder
			h.Mode = 0o755
			if err := t.WriteHeader(&h); err != nil {
				return err
			}
		}
		h := head
		h.Typeflag = tar.TypeReg
		h.Name = name
		h.Mode = int64(f.mode())
		h.Size = int64(len(f.data))
		if err := t.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// zipped packs files of one time.
func zipped(files []file, at time.Time, prefix string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.DefaultCompression)
	})
	for _, f := range files {
		h := &zip.FileHeader{Name: prefix + f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode())
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// gzipped is data without a name or a time in its head.
func gzipped(data []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// checksums are the lines that sha256sum --check reads.
func checksums(made []file) file {
	var b bytes.Buffer
	for _, f := range sorted(slices.Clone(made)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(f.data), f.name)
	}
	return file{name: "SHA256SUMS", data: b.Bytes()}
}

// archive is the program with everything that belongs to it.
func archive(c commit, b program, common []file) (file, error) {
	name := fmt.Sprintf("utvi-%s-%s", c.version, b.name)
	files := sorted(append([]file{
		{name: b.binary(), data: b.data, executable: true},
		{name: "utvi.cdx.json", data: b.bill},
		{name: "THIRD-PARTY-LICENSES.txt", data: b.licences},
	}, common...))
	pack := tarGz
	ending := ".tar.gz"
	if b.os == "windows" {
		pack = zipped
		ending = ".zip"
	}
	data, err := pack(files, c.time, name+"/")
	return file{name: name + ending, data: data}, err
}
