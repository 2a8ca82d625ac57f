package serve

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are JSON values, and texts that look like some.
var seeds = []string{`{"rows":[{"a":1.5e-3,"b":"x\u00e9\ud83d\ude00\n\"","c":null},[true,false]]}`, `[]`, `{}`, `[1,]`, `{"a"}`, `01`, `-`, `1.`, `1e`, `-0.0e+9`, `"\u12"`, `"\x"`, "\"\x01\"",
	`"\ud800"`, `"\ud800\u0041"`, ` [ 1 , 2 ] `, `nul`, `tru`, `{"a":1,}`, `{"a":1 "b":2}`, "\xff", `"` + "\xff" + `"`, strings.Repeat("[", 200)}

// checkScan compares the scanner with encoding/json on any text.
func checkScan(t *testing.T, text []byte) {
	s := &scanner{s: text}
	got, err := s.skip(0)
	if err == nil {
		err = s.end()
	}
	valid := json.Valid(text)
	deep := bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxDepth
	long := len(text) > mostDigits && err != nil && strings.HasSuffix(err.Error(), "a number has more than 1000 characters")
	if (err == nil) != valid && !deep && !long {
		t.Errorf("%q: %v, encoding/json finds it valid: %v", text, err, valid)
	}
	if err != nil {
		if f := faultOf(err); f.kind != malformed || strings.Contains(f.text, "\n") {
			t.Errorf("%q: %v", text, err)
		}
		return
	}
	if !bytes.Equal(bytes.TrimSpace(got), bytes.Trim(text, " \t\r\n")) {
		t.Errorf("%q was read as %q", text, got)
	}
	var value string
	text = bytes.Trim(text, " \t\r\n")
	if text[0] != '"' || json.Unmarshal(text, &value) != nil || !utf8.Valid(text) {
		return
	}
	s = &scanner{s: text}
	if unquoted, err := s.text(); err != nil || string(unquoted) != value {
		t.Errorf("%q is %q, %v; encoding/json has %q", text, unquoted, err, value)
	}
}

func TestScan(t *testing.T) {
	for _, text := range seeds {
		checkScan(t, []byte(text))
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(checkScan)
}

// Halves are numbers, too.
func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x0001: math.Ldexp(1, -24), 0x7bff: 65504, 0x0000: 0, 0x0400: math.Ldexp(1, -14), 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := half(bits); got != want {
			t.Errorf("%#x is %v, want %v", bits, got, want)
		}
	}
	if got := half(0x7e00); got == got {
		t.Errorf("NaN is %v", got)
	}
}

// Every datatype is read from bytes.
func TestRaw(t *testing.T) {
	for kind, f := range map[string]struct {
		raw    []byte
		floats []float64
		ints   []int64
		bools  []bool
		texts  []string
	}{
		"FP32":   {raw: []byte{0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}, floats: []float64{1.5, -2}},
		"BF16":   {raw: []byte{0xc0, 0x3f, 0, 0xc0}, floats: []float64{1.5, -2}},
		"FP16":   {raw: []byte{0, 0x3e, 0, 0xc0}, floats: []float64{1.5, -2}},
		"INT8":   {raw: []byte{0xff, 2}, ints: []int64{-1, 2}},
		"UINT8":  {raw: []byte{0xff, 2}, ints: []int64{255, 2}},
		"INT16":  {raw: []byte{0xfe, 0xff, 2, 1}, ints: []int64{-2, 258}},
		"UINT16": {raw: []byte{0xfe, 0xff, 2, 1}, ints: []int64{65534, 258}},
		"INT32":  {raw: []byte{0xfe, 0xff, 0xff, 0xff, 2, 1, 0, 0}, ints: []int64{-2, 258}},
		"UINT32": {raw: []byte{0xfe, 0xff, 0xff, 0xff, 2, 1, 0, 0}, ints: []int64{1<<32 - 2, 258}},
		"INT64":  {raw: []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 1, 0, 0, 0, 0, 0, 0}, ints: []int64{-2, 258}},
		"UINT64": {raw: []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 1, 0, 0, 0, 0, 0, 0}, texts: []string{"18446744073709551614", "258"}},
		"BOOL":   {raw: []byte{0, 1}, bools: []bool{false, true}},
		"BYTES":  {raw: []byte{2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0}, texts: []string{"ab", ""}},
	} {
		x := tensor{name: "x", datatype: kind, shape: []int64{2}}
		if err := x.readRaw(f.raw, 2); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		var texts []string
		for _, s := range x.texts {
			texts = append(texts, string(s))
		}
		if got, want := toText(x.floats, x.ints, x.bools, texts), toText(f.floats, f.ints, f.bools, f.texts); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
		if err := x.readRaw(f.raw[:len(f.raw)-1], 2); err == nil {
			t.Errorf("%s: a byte less was accepted", kind)
		}
		if err := x.readRaw(append(f.raw, 0), 2); err == nil {
			t.Errorf("%s: a byte more was accepted", kind)
		}
	}
}

func toText(parts ...any) string {
	text, _ := json.Marshal(parts)
	return strings.ReplaceAll(string(text), "null", "[]")
}

func TestParseSource(t *testing.T) {
	for text, want := range map[string]Source{
		"models/price.utvi":      {"price", "1", "models/price.utvi"},
		"a=models/price.utvi":    {"a", "1", "models/price.utvi"},
		"a@7=models/price.utvi":  {"a", "7", "models/price.utvi"},
		"a.b-c_d@v1=/x=y@z.utvi": {"a.b-c_d", "v1", "/x=y@z.utvi"},
	} {
		if got, err := ParseSource(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "a=", "a/b=x", "my model.utvi", "=x", "a@b c=x", "..=x", strings.Repeat("a", 101) + "=x"} {
		if got, err := ParseSource(text); err == nil {
			t.Errorf("%q was accepted: %+v", text, got)
		}
	}
	for _, v := range [][2]string{{"10", "9"}, {"2", "1"}, {"010", "9"}, {"v2", "v1"}, {"b", "10"}} {
		if !newer(v[0], v[1]) || newer(v[1], v[0]) {
			t.Errorf("%s is not newer than %s", v[0], v[1])
		}
	}
}
