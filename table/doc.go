// Package table reads a user's tables (CSV, TSV, Parquet, NumPy) in bounded memory: it opens
// files, finds out how they are written, and yields rows of cells that know their lines. What
// columns mean is the business of package utvi/internal/schema.
//
// Open returns a Reader, which yields Chunks of cells. A cell is a number, a text or missing.
// Load keeps all rows in a Frame, of which Split and Folds choose rows:
//
//	r, err := table.Open("data.csv", table.Options{})
//	f, err := table.Load(r)
//	train, test, err := f.Split(nil, table.Split{Seed: 1, Fraction: 0.1})
//
// Each column of a text file may write numbers with decimal points or commas (1,5). Where its
// cells leave that open (1,234), the other columns in use decide, then the model that the file
// is bound to, then whether semicolons separate the fields.
//
// A cell that is empty or says NA, N/A, NaN, null, none or ? is missing, in capitals or not; what
// it says is kept, because a column may read NA or None as a name. Every error is a sentence that
// names file, line and column.
package table
