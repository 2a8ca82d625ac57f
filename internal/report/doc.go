// Package report draws figures and sets them on a page. A figure is a value that
// knows its data and its size; Save writes it as SVG, PNG or PDF. A Page is one
// HTML file of claims, prose, figures and tables. It is given numbers and words
// only: what they mean is the caller's business.
package report
