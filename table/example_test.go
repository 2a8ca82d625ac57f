package table_test

import (
	"fmt"
	"strings"

	"utvi/table"
)

func ExampleOpen() {
	_, err := table.Open("nothing.csv", table.Options{})
	fmt.Println(err)
	// Output: cannot read nothing.csv: no such file or directory
}

func ExampleFrame_Split() {
	r, err := table.NewReader(strings.NewReader("day,y\n2026-01-03,1\n2026-01-01,2\n2026-01-02,3\n"), "days.csv", table.Options{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		panic(err)
	}
	train, held, err := f.Split(nil, table.Split{Fraction: 0.3, Time: "day"})
	fmt.Println(train, held, err)
	// Output: [1 2] [0] <nil>
}
