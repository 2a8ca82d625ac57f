package table

import (
	"archive/zip"
	"bytes"
	"testing"
)

// Files that people have, but that are not read, are named, and what to do.
func TestForeignFiles(t *testing.T) {
	archive := func(names ...string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("a,b\n1,2\n"))
		}
		z.Close()
		return b.String()
	}
	const saved = "; save the table as CSV or Parquet"
	for text, want := range map[string]string{
		archive("[Content_Types].xml", "xl/workbook.xml"): "f is an Excel workbook; save the sheet with the table as CSV",
		archive("mimetype", "content.xml"):                "f is an office document; save the sheet with the table as CSV",
		archive("train.csv"):                              "f is a zip file that holds train.csv; unpack it first",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more":       "f is an Excel workbook; save the sheet with the table as CSV",
		"{\"a\": 1, \"y\": 2}\n{\"a\": 2, \"y\": 3}\n":    "f is a JSON file" + saved,
		"\xef\xbb\xbf [{\"a\": 1}]":                       "f is a JSON file" + saved,
		"\n<!DOCTYPE html>\n<html>":                       "f is a web page (HTML), not a table; was the download refused?",
		"SQLite format 3\x00\x10":                         "f is an SQLite database" + saved,
		"\x28\xb5\x2f\xfd\x00\x00":                        "f is compressed by zstd; unpack it first",
		"\xfd7zXZ\x00\x00":                                "f is compressed by xz; unpack it first",
		"%PDF-1.7\n":                                      "f is a PDF document" + saved,
	} {
		if _, err := dumpBytes(t, "f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got\n%v, want\n%s", text, err, want)
		}
	}
}

// A workbook is known by its name even if it is damaged; text under such a name is read.
func TestWorkbookByName(t *testing.T) {
	for _, text := range []string{"PK\x03\x04 and more", "PK", "\x7f\x01\x00\x00\x02"} {
		if _, err := dumpBytes(t, "a.XLSX", []byte(text)); err == nil || err.Error() != "a.XLSX is "+excel {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"x\ty\n1\t2\n", "\xff\xfex\x00\t\x00y\x00\n\x001\x00\t\x002\x00\n\x00"} {
		if _, err := dumpBytes(t, "a.xls", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
