// Package notation knows how the cells of tables are written: numbers, units and money, times,
// and words for missing values. It also writes cells and lists of names for messages.
package notation
