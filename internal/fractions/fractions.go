// Package fractions holds what a table tells about the decimal points and commas of its columns, and
// what a model tells about those of the table that it was trained with.
package fractions

// A Column is how a column of a text file writes fractions.
type Column struct {
	Point byte // what stands before them, '.' or ','

	// Guess is a cell that can be read in two ways, such as 1,234, if nothing else in the file
	// says which is meant; "" if something does.
	Guess string

	// Comma is a cell that was read with a decimal comma, "" if the first lines have none.
	Comma string
}

// Trained is how a column of a training table wrote fractions.
type Trained struct {
	Used    bool
	Point   byte // '.' or ',', 0: the training table did not show it
	Grouped bool // thousands are grouped, too
}

// Shown reports whether the training table shows how the column writes fractions.
func (t Trained) Shown() bool { return t.Used && t.Point != 0 }

// A Reread column is one that a file writes in another way than the training table.
type Reread struct {
	Column int
	Point  byte   // what the file has
	Cell   string // that shows it
}
