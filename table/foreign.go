package table

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"utvi/internal/notation"
)

// foreign are files that people have and this package does not read, by their first bytes.
var foreign = []struct{ magic, is string }{
	{"\xd0\xcf\x11\xe0", excel},
	{`{"`, "a JSON file" + saveAs}, {"[{", "a JSON file" + saveAs}, {"[[", "a JSON file" + saveAs},
	{"<!doctype html", page}, {"<html", page},
	{"<?xml", "an XML file" + saveAs},
	{"%pdf-", "a PDF document" + saveAs},
	{"sqlite format 3\x00", "an SQLite database" + saveAs},
	{"\x89hdf\r\n", "an HDF5 file" + saveAs},
	{"arrow1", "an Arrow (Feather) file" + saveAs},
	{"bzh", "compressed by bzip2" + unzipIt}, {"\xfd7zxz\x00", "compressed by xz" + unzipIt}, {"\x28\xb5\x2f\xfd", "compressed by zstd" + unzipIt},
}

const (
	saveAs  = "; save the table as CSV or Parquet"
	unzipIt = "; unpack it first"
	excel   = "an Excel workbook; save the sheet with the table as CSV"
	page    = "a web page (HTML), not a table; was the download refused?"
)

// refuseForeign returns an error for a file of a known kind that is not read.
func refuseForeign(file string, start []byte) error {
	begin := bytes.TrimLeft(bytes.TrimPrefix(start[:min(len(start), 64)], []byte("\xef\xbb\xbf")), " \t\r\n")
	for _, f := range foreign {
		if len(begin) >= len(f.magic) && asciiLower(begin[:len(f.magic)]) == f.magic {
			return fmt.Errorf("%s is %s", file, f.is)
		}
	}
	return nil
}

// refuseExcel returns an error for a file that is a workbook by its name and no text,
// also if it is damaged. Programs write text under such names, too.
func refuseExcel(file string, start []byte) error {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".xls", ".xlsx", ".xlsm", ".xlsb":
		zeros := bytes.IndexByte(start, 0) >= 0 && Encoding("").of(start) == utf8Text // which text in UTF-8 does not have
		if zeros || bytes.HasPrefix(start, []byte("PK")) {
			return fmt.Errorf("%s is %s", file, excel)
		}
	}
	return nil
}

// asciiLower leaves bytes that are not ASCII as they are.
func asciiLower(b []byte) string {
	b = bytes.Clone(b)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// refuseArchive returns an error for a zip file that does not hold NumPy's arrays.
func refuseArchive(file string, z *zip.Reader) error {
	for _, f := range z.File {
		switch {
		case strings.HasPrefix(f.Name, "xl/"):
			return fmt.Errorf("%s is %s", file, excel)
		case f.Name == "mimetype":
			return fmt.Errorf("%s is an office document; save the sheet with the table as CSV", file)
		}
	}
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".npy") {
			return fmt.Errorf("%s is a zip file that holds %s; unpack it first", file, notation.Printable(f.Name))
		}
	}
	return nil
}
