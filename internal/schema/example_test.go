package schema_test

import (
	"fmt"
	"os"
	"strings"

	"utvi/gauss"
	"utvi/internal/delimited"
	"utvi/internal/schema"
	"utvi/table"
)

const houses = `area,town,price
50,Ulm,100
70,Bonn,160
90,Ulm,180
`

// Training: rows in memory, a schema of the training rows, encoded rows.
func Example() {
	r, err := table.NewReader(strings.NewReader(houses), "houses.csv", table.Options{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		panic(err)
	}
	s, err := schema.Infer(f.Rows([]int{0, 1, 2}), schema.Spec{Targets: []string{"price"}})
	if err != nil {
		panic(err)
	}
	s.WriteSummary(os.Stdout)
	set, err := s.Encode(f.Rows(nil))
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Inputs())
	fmt.Printf("%.2f\n", set.X.Mean)
	// Output:
	// column  type         values                            missing  use
	// area    numeric      50 to 90, mean 70, sd 16.33                input
	// town    categorical  2: Ulm, Bonn                               3 inputs: its levels, other
	// price   numeric      100 to 180, mean 146.7, sd 33.99           target
	// regression of price from 4 inputs; 3 rows
	// [area town=Ulm town=Bonn town=other]
	// [-1.22 1.00 0.00 0.00 0.00 0.00 1.00 0.00 1.22 1.00 0.00 0.00]
}

// Prediction: chunk by chunk, columns found by name, identifiers passed on.
func ExampleSchema_Bind() {
	s, err := schema.Parse([]byte(`{"task": "regression", "named": true, "rows": 3, "columns": [
		{"name": "area", "role": "input", "type": "numeric", "mean": 70, "sd": 20, "min": 50, "max": 90},
		{"name": "price", "role": "target", "type": "numeric", "mean": 150, "sd": 30, "min": 100, "max": 180}]}`))
	if err != nil {
		panic(err)
	}
	r, err := table.NewReader(strings.NewReader("house,area\n007,100\n008,60\n"), "new.csv", table.Options{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	e, err := s.Bind(r.Header())
	if err != nil {
		panic(err)
	}
	x := gauss.Fixed(e.Width(), make([]float32, table.MaxRows*e.Width()))
	c, err := r.Next() // and so on, until io.EOF
	if err == nil {
		err = e.Inputs(c, x.Slice(0, c.Rows()))
	}
	if err != nil {
		panic(err)
	}
	price := s.Targets()[0]
	var out delimited.Lines
	for i := range c.Rows() {
		out.Text(c.Text(i, r.Header().Column("house")))
		out.Float(price.Mean + price.SD*float64(x.Mean[i])) // a network's output, in euros
		out.End()
	}
	out.Flush(os.Stdout)
	// Output:
	// 007,195
	// 008,135
}
