package strictjson

import "testing"

func TestUnmarshal(t *testing.T) {
	type shared struct{ B, C int }
	var v struct {
		shared
		A     int    `json:"a"`
		Seed  uint64 `json:"seed"`
		Inner struct {
			Rate float64 `json:"rate"`
			List []bool  `json:"list,omitempty"`
		} `json:"inner"`
		Name  string `json:"name"`
		Maybe *bool  `json:"maybe"`
		Out   int    `json:"-"`
		in    int
	}
	if err := Unmarshal([]byte(`{"a": 3, "inner": {"rate": 0.5}}`), &v); err != nil || v.A != 3 || v.Inner.Rate != 0.5 || v.in != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	for data, want := range map[string]string{
		`{"a": 3, "x": 4}`:           `unknown field "x"; the fields are B, C, a, seed, inner, name, maybe`,
		`{"inner": {"x": 4}}`:        `unknown field "x"`,
		`{"a": 3} {}`:                "there is text after the value",
		`{"a": 3`:                    "unexpected EOF",
		`{"a": "many"}`:              "a is text; it must be a whole number",
		`{"a": 1.5}`:                 "a is 1.5; it must be a whole number",
		`{"seed": -1}`:               "seed is -1; it must be a whole number ≥ 0",
		`{"inner": {"rate": []}}`:    "inner.rate is a list; it must be a number",
		`{"inner": {"list": 3}}`:     "inner.list is a number; it must be a list",
		`{"inner": {"list": [3]}}`:   "inner.list is a number; it must be true or false",
		`{"name": {}}`:               "name is an object; it must be text",
		`{"maybe": "yes"}`:           "maybe is text; it must be true or false",
		`{"inner": true}`:            "inner is true or false; it must be an object",
		`{"inner": {"rate": 1e999}}`: "inner.rate is 1e999; it must be a finite number",
		`[3]`:                        "it is a list; it must be an object",
	} {
		if err := Unmarshal([]byte(data), &v); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}
