// Package house has tests only: they hold the code against the drawing of the packages
// in ARCHITECTURE.md.
package house
