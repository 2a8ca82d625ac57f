package strictjson

import "testing"

func TestUnmarshal(t *testing.T) {
	var v struct{ A int }
	if err := Unmarshal([]byte(`{"a": 3}`), &v); err != nil || v.A != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	for data, want := range map[string]string{
		`{"a": 3, "b": 4}`: `unknown field "b"`,
		`{"a": 3} {}`:      "something follows the value",
		`{"a": 3`:          "unexpected EOF",
	} {
		if err := Unmarshal([]byte(data), &v); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}
