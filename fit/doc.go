// Package fit goes from a table in a file to a model in a file and back: it learns
// a table's columns and trains a network on them, predicts rows as they stream by,
// scores predictions, corrects them by held-out rows, and reports.
//
//	frame, err := fit.ReadTable("data.csv", table.Options{})
//	result, err := fit.Run(ctx, frame, fit.Config{Targets: []string{"y"}}, fit.Options{})
//	err = result.Model.Save("y.utvi")
//
//	m, err := fit.Load("y.utvi")
//	err = m.Predict(rows, w, fit.Output{Interval: 0.9})
//
// Everything a user sees is in the units of the table; what the network sees is
// standardised.
package fit
