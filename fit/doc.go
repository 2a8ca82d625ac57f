// Package fit makes a model file from a table. Run finds out what the columns are, holds
// out rows, trains networks on the other rows and scores them on the held-out rows.
// Model.Evaluate scores predictions of further rows, Model.Calibrate corrects
// predictions with rows that were not used for training. Package predict predicts with
// the model; the example of this package shows both.
//
// All numbers that a user sees are in the units of the table. The networks see
// standardised numbers.
package fit
