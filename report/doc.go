// Package report draws figures. A figure is a value that knows its data and its
// size; Save writes it as SVG, PNG or PDF.
package report
