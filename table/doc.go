// Package table reads a user's tables (CSV, TSV, Parquet, NumPy) in bounded
// memory, finds out what their columns are, and encodes them as the inputs and
// targets of a network.
//
// There are two levels. Raw rows: Open returns a Reader, which yields Chunks of cells
// and knows their lines. A cell is a number, a text or missing. Load keeps all rows in
// a Frame. Meaning: Infer reads rows once and makes a Schema (types, levels, means,
// deviations), which is stored with the model. Bind connects the schema to the columns
// of a file, by name, and returns an Encoder.
//
// Training holds rows in memory and learns the schema from training rows only:
//
//	r, err := table.Open("data.csv", table.Options{})
//	f, err := table.Load(r)
//	train, test, err := f.Split(nil, table.Split{Seed: 1, Fraction: 0.1})
//	schema, err := table.Infer(f.Rows(train), table.Spec{Targets: []string{"y"}})
//	set, err := schema.Encode(f.Rows(train)) // set.X, set.Y, set.Weights
//
// Prediction streams; the file may have any size:
//
//	r, err := table.Open("new.csv", table.Options{})
//	e, err := schema.Bind(r.Header())
//	for {
//		c, err := r.Next() // io.EOF at the end
//		err = e.Inputs(c, x.Slice(0, c.Rows()))
//		…
//	}
//
// Each column of a text file may write numbers with decimal points or commas (1,5). Where its
// cells leave that open (1,234), the other columns in use decide, then the model that the file
// is bound to, then whether semicolons separate the fields.
//
// A column of whole numbers of which some begin with 0 (01067) holds codes, which are
// names, if they repeat.
//
// A cell that is empty or says NA, N/A, NaN, null, none or ? is missing, in capitals or not. NA is
// a name among codes, none among names that are about as common. Further marks, such as -, are
// missing among numbers and times, and names among names. Every
// error is a sentence that names file, line and column.
package table
