package calibrate

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"utvi/dist"
)

// whole is a calibration with every part.
func whole(t testing.TB) *Calibration {
	c := new(Calibration)
	var err error
	check := func() {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Scale, err = FitScale(skewed(1, 300))
	check()
	c.Levels, err = FitLevels(c.Corrected(skewed(1, 300)))
	check()
	c.Conformal, err = FitConformal(skewed(1, 300))
	check()
	c.Temperature, err = FitTemperature(classes(1, 300, 1.3))
	check()
	return c
}

func TestRoundTrip(t *testing.T) {
	for _, c := range []*Calibration{whole(t), {}, {Levels: &Levels{Rows: 10}}} {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(c, got) {
			t.Errorf("%v came back as %v", c, got)
		}
	}
}

func TestString(t *testing.T) {
	c := &Calibration{Scale: &Scale{300, 1.1234}, Conformal: &Conformal{Ranked: Ranked{Rows: 300}}}
	if got, want := c.String(), "σ × 1.12 fitted on 300 rows; conformal intervals from 300 rows"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := new(Calibration).String(); got != "none" {
		t.Error(got)
	}
	if s := whole(t).String(); strings.Count(s, "; ") != 3 || strings.Contains(s, "\n") {
		t.Error(s)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("0.5,", mostScores+1), ",")
	for data, want := range map[string]string{
		`{"scale":{"rows":300,"factor":0}}`:                                             "a scale of 0 from 300 rows; it must lie between 0.001 and 1000 and be fitted on at least 10 rows",
		`{"scale":{"rows":300,"factor":1e9}}`:                                           "a scale of 1e+09",
		`{"scale":{"rows":-1,"factor":1}}`:                                              "from -1 rows",
		`{"scale":{"rows":300,"factor":1e999}}`:                                         "factor is 1e999; it must be a finite number",
		`{"scale":{"rows":300,"factor":1,"power":2}}`:                                   `unknown field "power"`,
		`{"scale":{"rows":300,"factor":1}} x`:                                           "there is text after",
		`{"levels":{"rows":300,"from":[0.5],"to":[]}}`:                                  "1 and 0 knots",
		`{"levels":{"rows":300,"from":[0.5,0.4],"to":[0.1,0.2]}}`:                       "does not rise",
		`{"levels":{"rows":300,"from":[0.4,0.5],"to":[0.2,0.2]}}`:                       "does not rise",
		`{"levels":{"rows":300,"from":[0.4,0.4],"to":[0.1,0.2]}}`:                       "does not rise",
		`{"levels":{"rows":300,"from":[0.4,1],"to":[0.1,0.2]}}`:                         "does not rise",
		`{"levels":{"rows":300,"from":[-0.4,0.5],"to":[0.1,0.2]}}`:                      "does not rise",
		`{"levels":{"rows":300,"from":[0.4,0.5],"to":[0.1,1.2]}}`:                       "does not rise",
		`{"levels":{"rows":300,"from":[1e-300],"to":[0.5]}}`:                            "does not rise",
		`{"levels":{"rows":300,"from":[` + many + `],"to":[` + many + `]}}`:             "at most 264",
		`{"conformal":{"rows":2,"scores":[1]}}`:                                         "1 conformal scores of 2 rows",
		`{"conformal":{"rows":0,"scores":[]}}`:                                          "of 0 rows",
		`{"conformal":{"rows":3,"scores":[1,3,2]}}`:                                     "score 3 is 2 after 3",
		`{"conformal":{"rows":2,"scores":[-1,3]}}`:                                      "score 1 is -1 after 0",
		`{"conformal":{"rows":10001,"scores":[` + many + `]}}`:                          "at most 10000",
		`{"conformal":{"rows":9007199254740993,"scores":[` + many[:len(many)-4] + `]}}`: "of 9007199254740993 rows",
		`{"conformal":{"rows":2,"scores":[1,2],"shares":[0.3]}}`:                        "2 conformal scores have 1 shares",
		`{"conformal":{"rows":2,"scores":[1,2],"shares":[0.5,0.3]}}`:                    "share 2 is 0.3 after 0.5",
		`{"conformal":{"rows":2,"scores":[1,2],"shares":[0.5,1]}}`:                      "share 2 is 1 after 0.5",
		`{"conformal":{"rows":2,"scores":[1,2],"below":{"rows":1,"scores":[1]}}}`:       "do not match",
		`{"conformal":{"rows":1,"scores":[-5],"below":{"rows":1,"scores":[-5]}}}`:       "do not match",
		`{"conformal":{"rows":2,"scores":[1,2],"below":{"rows":2,"scores":[1]}}}`:       "1 conformal scores of 2 rows",
		`{"sets":{"rows":2,"scores":[0.5]}}`:                                            "1 conformal scores of 2 rows",
		`{"sets":{"rows":2,"scores":[-0.5,1]}}`:                                         "score 1 is -0.5 after 0",
		`{"sets":{"rows":2,"scores":[0.5,1.1]}}`:                                        "a score of a conformal set is 1.1; it must lie between 0 and 1",
		`{"temperature":{"rows":9,"temperature":1}}`:                                    "from 9 rows",
		`{"scale":{"rows":9,"factor":1}}`:                                               "from 9 rows",
		`{"levels":{"rows":9,"from":[],"to":[]}}`:                                       "from 9 rows",
		`{"temperature":{"rows":300,"temperature":0}}`:                                  "a temperature of 0",
		`{"temperature":{"rows":300,"temperature":-2}}`:                                 "a temperature of -2",
		`[]`: "it is a list; it must be an object",
		``:   "EOF",
	} {
		_, err := Decode([]byte(data))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "calibration: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.90s: %v, want %q", data, err, want)
		}
	}
}

// Whatever is accepted works: nothing panics, levels rise, densities are numbers.
func FuzzDecode(f *testing.F) {
	data, err := json.Marshal(whole(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"levels":{"rows":10,"from":[1e-12,0.5],"to":[0.1,0.9]}}`))
	f.Add([]byte(`{"conformal":{"rows":3,"scores":[0,1.5,1e300]},"scale":{"rows":12,"factor":0.001}}`))
	f.Add([]byte(`{"conformal":{"rows":3,"scores":[-1,1.5,2],"shares":[0.1,0.5,0.9],"below":{"rows":3,"scores":[-2,-1.5,1],"shares":[0.3,0.6,0.9]}}}`))
	f.Add([]byte(`{"temperature":{"rows":10,"temperature":0.01}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			return
		}
		d := c.Apply(dist.Normal{Mu: 1, Sigma: 2}, nil)
		last := math.Inf(-1)
		for i := 1; i < 20; i++ {
			p := float64(i) / 20
			x := d.Quantile(p)
			if !(x >= last) || math.IsNaN(d.LogPDF(x)) || !(math.Abs(d.CDF(x)-p) < 1e-3) {
				t.Fatalf("quantile %g of %g after %g: CDF %g, LogPDF %g", x, p, last, d.CDF(x), d.LogPDF(x))
			}
			if lo, hi := c.Interval(dist.Normal{Mu: 1, Sigma: 2}, p, nil); !(lo <= hi) {
				t.Fatalf("interval %g … %g", lo, hi)
			}
			last = x
		}
		if c.Temperature != nil {
			q := dist.Categorical{0.3, 0.7}
			c.Temperature.Apply(q, q)
			if !(q[1] >= q[0] && math.Abs(q[0]+q[1]-1) < 1e-12) {
				t.Fatal(q)
			}
		}
		_ = c.String()
	})
}

func TestUserErrors(t *testing.T) {
	few := normals(1, 9, 0, 1)
	broken := Unweighted(func(yield func(float64, dist.Dist) bool) {
		for i := range 20 {
			y := 0.1
			if i == 11 {
				y = math.NaN()
			}
			if !yield(y, dist.Normal{Sigma: 1}) {
				return
			}
		}
	})
	none := Unweighted(func(func(float64, dist.Dist) bool) {})
	get := func(_ any, err error) error { return err }
	for want, err := range map[string]error{
		"a scale of the standard deviation needs at least 10 held-out rows; there are 9": get(FitScale(few)),
		"a map of levels needs at least 10 held-out rows; there are 9":                   get(FitLevels(few)),
		"conformal intervals need at least one held-out row":                             get(FitConformal(none)),
		"a temperature needs at least 10 held-out rows; there are 4":                     get(FitTemperature(classes(1, 4, 1))),
		"the prediction or the target of held-out row 12 is not a finite number":         get(FitScale(broken)),
		"the prediction or the target of held-out row 12 is not a finite number ":        get(FitLevels(broken)),
		"the prediction or the target of held-out row 12 is not a finite number  ":       get(FitConformal(broken)),
		"held-out row 1 has class 3; there are 2 classes, counted from 0": get(FitTemperature(Unweighted(func(yield func(int, dist.Categorical) bool) {
			yield(3, dist.Categorical{0.5, 0.5})
		}))),
	} {
		if err == nil || err.Error() != "calibration: "+strings.TrimRight(want, " ") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	c := whole(t)
	scratch := new(Scratch)
	d := &dist.Normal{Mu: 1, Sigma: 2}
	var sum float64
	for name, f := range map[string]func(){
		"apply":    func() { e := c.Apply(d, scratch); sum += e.LogPDF(1) + e.CDF(2) + e.Quantile(0.1) },
		"moments":  func() { e := c.Apply(d, scratch); sum += e.Mean() + e.SD() + e.CRPS(1) },
		"interval": func() { lo, hi := c.Interval(d, 0.9, scratch); sum += lo + hi },
	} {
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

func BenchmarkBent(b *testing.B) {
	c := whole(b)
	scratch := new(Scratch)
	d := &dist.Normal{Mu: 1, Sigma: 2}
	for name, f := range map[string]func(dist.Dist){
		"moments": func(d dist.Dist) { d.Mean() }, "logpdf": func(d dist.Dist) { d.LogPDF(1) }, "quantile": func(d dist.Dist) { d.Quantile(0.1) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(c.Apply(d, scratch))
			}
		})
	}
}

// Held-out rows showed that the model is too sure of itself.
func ExampleCalibration() {
	held := normals(1, 300, 0, 0.8)
	var c Calibration
	var err error
	c.Scale, err = FitScale(held)
	if err != nil {
		fmt.Println(err)
	}
	c.Conformal, err = FitConformal(held)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(&c)
	d := dist.Normal{Mu: 10, Sigma: 1}
	lo, hi := c.Interval(d, 0.9, nil)
	fmt.Printf("±%.2f; 90 %% between %.2f and %.2f\n", c.Apply(d, nil).SD(), lo, hi)
	// Output:
	// σ × 1.24 fitted on 300 rows; conformal intervals from 300 rows
	// ±1.24; 90 % between 7.96 and 12.04
}

// As many rows as a correction needs give one that can be stored; one row less gives none.
func TestLeastRows(t *testing.T) {
	fits := map[string]func(n int) (*Calibration, error){
		"temperature": func(n int) (*Calibration, error) {
			x, err := FitTemperature(classes(3, n, 2))
			return &Calibration{Temperature: x}, err
		},
		"scale": func(n int) (*Calibration, error) {
			x, err := FitScale(normals(3, n, 0, 0.5))
			return &Calibration{Scale: x}, err
		},
		"levels": func(n int) (*Calibration, error) {
			x, err := FitLevels(normals(3, n, 0, 0.5))
			return &Calibration{Levels: x}, err
		},
	}
	for name, fit := range fits {
		c, err := fit(leastRows)
		if err != nil || c.Check() != nil {
			t.Errorf("%s of %d rows: %v, %v", name, leastRows, err, c.Check())
		}
		_, err = fit(leastRows - 1)
		if err == nil {
			t.Errorf("%s: %d rows were enough", name, leastRows-1)
		}
	}
}
