package safetensors

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// raw builds a file with any header.
func raw(header, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// mustRefuse checks that b is refused in one sentence, which it returns.
func mustRefuse(t *testing.T, b []byte, what string, args ...any) string {
	t.Helper()
	f, err := parse(b)
	if err == nil {
		t.Fatalf(what+" was not refused", args...)
	}
	if f != nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
		t.Errorf(what+": %q", append(args, err)...)
	}
	return err.Error()
}

func TestTruncated(t *testing.T) {
	whole := encoded(t, sample())
	for n := range whole {
		if msg := mustRefuse(t, whole[:n], "%d of %d bytes", n, len(whole)); !strings.HasPrefix(msg, "truncated: ") {
			t.Errorf("%d of %d bytes: %s", n, len(whole), msg)
		}
		// The same where the size promised more than came.
		if _, err := Read(bytes.NewReader(whole[:n]), int64(len(whole))); err == nil || !strings.HasPrefix(err.Error(), "truncated: ") {
			t.Errorf("%d of %d promised bytes: %v", n, len(whole), err)
		}
	}
}

// A change of any single byte, to any other value, makes a file refused.
func TestEveryByteCounts(t *testing.T) {
	for whole, step := range map[string]int{
		string(encoded(t, golden())): 1, // all other values
		string(encoded(t, sample())): 5, // some of them: it is longer
	} {
		b := []byte(whole)
		for i := range b {
			for x := 1; x < 256; x += step {
				b[i] = whole[i] ^ byte(x)
				mustRefuse(t, b, "byte %d as %#x instead of %#x", i, b[i], whole[i])
			}
			b[i] = whole[i]
		}
		if _, err := parse(b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefuses(t *testing.T) {
	const scalar = `"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}`
	entry := func(dtype, shape, offsets string) string {
		return `{"a":{"dtype":` + dtype + `,"shape":` + shape + `,"data_offsets":` + offsets + `}}`
	}
	whole := string(encoded(t, sample()))
	const no = "not a safetensors file: "
	for _, c := range []struct{ want, file string }{
		{"truncated: the header's length takes 8 bytes, the file holds 0", ""},
		{no + "a header of 7957695015191671643 bytes is over the limit of 104857600", "[section]\nkey = value\n"},
		{no + "a header of 0 bytes is too short", string(raw("", ""))},
		{"truncated: the header takes 104857600 bytes, the file holds 2", "\x00\x00\x40\x06\x00\x00\x00\x00{}"},
		{no + "the header is not valid UTF-8", string(raw("{\"\xff\":{}}", ""))},
		{no + "the header is not a JSON object", string(raw(`{"a":}`, ""))},
		{no + "the header is not a JSON object", string(raw(` {}`, ""))},
		{no + "the header is not a JSON object", string(raw(`[]`, ""))},
		{no + "the header is not a JSON object", string(raw(`{}{}`, ""))},
		{no + "the header is padded with other characters than spaces", string(raw("{}\n", ""))},
		{no + `"a": this is not an object`, string(raw(`{"a":[]}`, ""))},
		{no + `"a": dtype, shape or data_offsets is missing`, string(raw(`{"a":{"dtype":"U8"}}`, ""))},
		{no + `"a": "dtype": this key occurs twice`, string(raw(`{"a":{"dtype":"U8","dtype":"U8"}}`, ""))},
		{no + `"a": "extra": this key is unknown`, string(raw(`{"a":{"extra":1}}`, ""))},
		{no + `"a": this key occurs twice`, string(raw(`{`+scalar+`,`+scalar+`}`, "\x00"))},
		{no + `"__metadata__": this key occurs twice`, string(raw(`{"__metadata__":{},"__metadata__":{}}`, ""))},
		{no + `"__metadata__": "k": this key occurs twice`, string(raw(`{"__metadata__":{"k":"","\u006b":""}}`, ""))},
		{no + `"__metadata__": "k": this is not a string`, string(raw(`{"__metadata__":{"k":1}}`, ""))},
		{`written by another program: "a": "dtype": "F16" is not one of F32, F64, I64, U64 and U8`, string(raw(entry(`"F16"`, `[]`, `[0,2]`), "\x00\x00"))},
		{no + `"a": "dtype": this is not a string`, string(raw(entry(`null`, `[]`, `[0,2]`), "\x00\x00"))},
		{no + `"a": "shape": this is not an array`, string(raw(entry(`"U8"`, `null`, `[0,2]`), "\x00\x00"))},
		{no + `"a": "shape": "-1" is not a whole number from 0 to 9223372036854775807`, string(raw(entry(`"U8"`, `[-1]`, `[0,0]`), ""))},
		{no + `"a": "shape": "1.0" is not a whole number from 0 to 9223372036854775807`, string(raw(entry(`"U8"`, `[1.0]`, `[0,1]`), "x"))},
		{no + `"a": "shape": "1" is not a whole number from 0 to 9223372036854775807`, string(raw(entry(`"U8"`, `["1"]`, `[0,1]`), "x"))},
		{no + `"a": "shape": "9223372036854775808" is not a whole number from 0 to 9223372036854775807`, string(raw(entry(`"U8"`, `[9223372036854775808]`, `[0,0]`), ""))},
		{no + `tensor "a" has the impossible shape [4294967296 4294967296]`, string(raw(entry(`"U8"`, `[4294967296,4294967296]`, `[0,0]`), ""))},
		{no + `tensor "a" has the impossible shape [4611686018427387904]`, string(raw(entry(`"F32"`, `[4611686018427387904]`, `[0,0]`), ""))},
		{no + `tensor "a" has 65 dimensions, more than 64`, string(raw(entry(`"U8"`, `[1`+strings.Repeat(",1", 64)+`]`, `[0,1]`), "x"))},
		{no + `"a": "data_offsets": there are 3 numbers, not 2`, string(raw(entry(`"U8"`, `[1]`, `[0,1,1]`), "x"))},
		{no + `tensor "a" goes from byte 1 to 0, but its shape [0] of U8 takes 0`, string(raw(entry(`"U8"`, `[0]`, `[1,0]`), "x"))},
		{no + `tensor "a" goes from byte 0 to 7, but its shape [2] of F32 takes 8`, string(raw(entry(`"F32"`, `[2]`, `[0,7]`), "1234567"))},
		{no + `tensor "a" begins at byte 1 and leaves a hole after byte 0`, string(raw(entry(`"U8"`, `[1]`, `[1,2]`), "xx"))},
		{no + `tensor "b" begins at byte 0, within the tensor before it, which ends at 1`,
			string(raw(`{`+scalar+`,"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "xx"))},
		{"truncated: header says 120 bytes of tensors, the file holds 96", string(raw(entry(`"F32"`, `[30]`, `[0,120]`), strings.Repeat("x", 96)))},
		{"truncated: header says 1099511627776 bytes of tensors, the file holds 3", string(raw(entry(`"U8"`, `[1099511627776]`, `[0,1099511627776]`), "xxx"))},
		{"trailing bytes: header says 1 bytes of tensors, the file holds 2", string(raw(`{`+scalar+`}`, "xx"))},
		{"altered: checksum does not match", whole[:len(whole)-1] + "\x00"},
		{"altered: checksum does not match", string(raw(announce+`"}}`, ""))},
		{"altered: the checksum is not where it was written", string(raw(`{"__metadata__":{"a":"","checksum":"sha256:"}}`, ""))},
		{"altered: the beginning of the header is damaged", strings.Replace(whole, "checksum", "chucksum", 1)},
	} {
		if got := mustRefuse(t, []byte(c.file), "%q", c.file); got != c.want && strconv.IntSize == 64 {
			t.Errorf("%.100q\ngot  %s\nwant %s", c.file, got, c.want)
		}
		if used := allocated(func() { parse([]byte(c.file)) }); used > 1<<20 {
			t.Errorf("%.100q takes %d bytes of memory", c.file, used)
		}
	}
}

func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, io.ErrClosedPipe }
func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBrokenStreams(t *testing.T) {
	if err := sample().Write(failing{}); err != io.ErrClosedPipe {
		t.Error(err)
	}
	if _, err := Read(failing{}, 100); err == nil || err.Error() != "reading failed: io: read/write on closed pipe" {
		t.Error(err)
	}
	if _, err := ReadFile("testdata/none"); err == nil || err.Error() != "cannot read testdata/none: no such file or directory" {
		t.Error(err)
	}
	if _, err := ReadFile("testdata"); err == nil || err.Error() != "cannot read testdata: it is a folder" {
		t.Error(err)
	}
}
