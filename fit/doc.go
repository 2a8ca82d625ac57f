// Package fit goes from a table in a file to a model in a file: it learns what a table's
// columns are, holds out rows, trains a network on the others (Run), scores predictions
// (Model.Evaluate) and corrects them by rows that were not trained with
// (Model.Calibrate). Package predict predicts with the model; the example of this
// package shows both.
//
// Everything a user sees is in the units of the table; what the network sees is
// standardised.
package fit
