// Package house has tests only: they hold the code against the drawing of the packages
// in DESIGN.md.
package house
