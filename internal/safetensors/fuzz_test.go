package safetensors

import "testing"

// Whatever the bytes: no panic, no memory out of proportion, and what is
// accepted survives being written and read.
func FuzzRead(f *testing.F) {
	f.Add(encoded(f, sample()))
	f.Fuzz(func(t *testing.T, b []byte) {
		var file *File
		var err error
		if used, limit := allocated(func() { file, err = parse(b) }), uint64(1<<20+100*len(b)); used > limit {
			t.Errorf("%d bytes take %d bytes of memory", len(b), used)
		}
		if err != nil {
			if file != nil || len(err.Error()) > 2000 {
				t.Errorf("%v and %v", file, err)
			}
			return
		}
		again, err := parse(encoded(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if dump(again) != dump(file) {
			t.Errorf("read\n%s\nthen\n%s", dump(file), dump(again))
		}
	})
}
