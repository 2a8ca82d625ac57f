// Package schema finds out what the columns of a table mean, and encodes its rows as the inputs
// and targets of a network.
//
// Infer reads rows once and makes a Schema, which is stored with the model. Of each column it
// says what it is used for (Role), what its values are (Type), how its cells are read (Reading),
// which inputs it becomes (Encoding), its statistics (Stats), and what a person should look at
// (Note, Warning). Training holds rows in memory and learns the schema from training rows only:
//
//	f, err := table.Load(r)
//	train, test, err := f.Split(nil, table.Split{Seed: 1, Fraction: 0.1})
//	s, err := schema.Infer(f.Rows(train), schema.Spec{Targets: []string{"y"}})
//	set, err := s.Encode(f.Rows(train)) // set.X, set.Y, set.Weights
//
// Bind connects a schema to the columns of a file, by name, and returns an Encoder. Prediction
// streams; the file may have any size:
//
//	r, err := table.Open("new.csv", table.Options{})
//	e, err := s.Bind(r.Header())
//	for {
//		c, err := r.Next() // io.EOF at the end
//		err = e.Inputs(c, x.Slice(0, c.Rows()))
//		…
//	}
//
// A column of whole numbers of which some begin with 0 (01067) holds codes, which are
// names, if they repeat. NA is a name among codes of countries, None among names that are about
// as common. Placeholders, such as -, are missing among numbers and times, and names among names.
// Every error is a sentence that names file, line and column.
package schema
