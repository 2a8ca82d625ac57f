package export

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"utvi/internal/onnx"
	"utvi/internal/schema"
	"utvi/predict"
)

// timeGraph writes nothing but the encoding of one column of times.
func timeGraph(t *testing.T, layout string) (*onnx.Model, *schema.Column) {
	t.Helper()
	s := &schema.Schema{Impute: true, Columns: []schema.Column{{Name: "at", Role: schema.Input, Type: schema.Times, Stats: schema.Stats{Missing: 1, Mean: 1.6e9, SD: 1e9}, Reading: schema.Reading{Layout: layout, Parts: []schema.Part{schema.OfYear, schema.OfWeek, schema.OfDay}}}}}
	w := &tableWriter{writer: &writer{ops: ops{onnx.NewBuilder("times")}}, m: &predict.Model{Schema: s}}
	w.Reserve("mean")
	x, err := w.encode()
	if err != nil {
		t.Fatal(err)
	}
	w.Output("mean", x.mean, onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 8})
	return w.Model(), &s.Columns[0]
}

// Times are encoded as package table does it: the seconds around each New Year and each
// end of February from 1580 to 2420, and any others, here and in other zones.
func TestTimesConformance(t *testing.T) {
	needsRuntime(t)
	r := rand.New(rand.NewPCG(1, 2))
	var at []float64
	for year := 1580; year <= 2420; year++ {
		for _, month := range []time.Month{time.January, time.March} {
			first := float64(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix())
			at = append(at, first-86401, first-86400, first-1, first-0.25, first, first+86399)
		}
	}
	for range 5000 {
		at = append(at, 2e10*(2*r.Float64()-1))
	}
	at = append(at, math.NaN())
	dims := []int{len(at), 1}
	seconds, offsets := tensor{Dims: dims, Double: true}, tensor{Dims: dims, Double: true}
	var ahead []float64
	for _, v := range at {
		ahead = append(ahead, float64(1800*(r.IntN(49)-24)))
		offsets.Data = append(offsets.Data, ahead[len(ahead)-1])
		seconds.Data = append(seconds.Data, v)
		if math.IsNaN(v) {
			seconds.Data[len(seconds.Data)-1] = "NaN"
		}
	}
	here, c := timeGraph(t, time.DateTime)
	there, _ := timeGraph(t, time.RFC3339Nano)
	runs := []*run{
		{Name: "times", model: here, Inputs: map[string]tensor{"at": seconds}},
		{Name: "times-zoned", model: there, Inputs: map[string]tensor{"at": seconds, "at_offset": offsets}},
	}
	runAll(t, runs)
	for _, run := range runs {
		got := run.outputs["mean"].floats()
		if len(got) != 8*len(at) {
			t.Fatalf("%s: %d numbers for %d times", run.Name, len(got), len(at))
		}
		want, clock := make([]float32, 8), make([]float32, 8)
		for i, v := range at {
			switch c.Place(v, want); {
			case math.IsNaN(v):
				clear(want)
				want[7] = 1
			case run.model == there: // the trend is that of the instant, the calendar that of the place
				c.Place(v+ahead[i], clock)
				copy(want[1:], clock[1:])
			}
			for j, w := range want {
				if e := math.Abs(got[8*i+j] - float64(w)); !(e <= 1.2e-7*max(1, math.Abs(float64(w)))) {
					t.Fatalf("%s: input %d of %s is %v, want %v", run.Name, j, time.Unix(int64(v), 0).UTC(), got[8*i+j], w)
				}
			}
		}
	}
}

// A graph says how its times are written, and refuses a name that it needs for offsets.
func TestTimeInputs(t *testing.T) {
	plain, _ := timeGraph(t, time.DateOnly)
	if in := plain.Graph.Inputs; len(in) != 1 || in[0].Elem != onnx.Double || in[0].Doc != clockDoc {
		t.Errorf("a date has the inputs %+v", in)
	}
	zoned, c := timeGraph(t, time.RFC1123Z)
	if in := zoned.Graph.Inputs; len(in) != 2 || in[0].Doc != timeDoc || in[1].Name != "at_offset" || in[1].Doc != offsetDoc {
		t.Errorf("a time with an offset has the inputs %+v", in)
	}
	s := &schema.Schema{Columns: []schema.Column{*c, {Name: "at_offset", Role: schema.Input, Type: schema.Numeric, Stats: schema.Stats{SD: 1}}}}
	w := &tableWriter{writer: &writer{ops: ops{onnx.NewBuilder("times")}}, m: &predict.Model{Schema: s}}
	if _, err := w.encode(); err == nil || !strings.Contains(err.Error(), "rename that column") {
		t.Errorf("a column with the name of an input: %v", err)
	}
}
