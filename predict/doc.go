// Package predict opens a model file and predicts rows with it: a table's model
// (.utvi), from named values, or a network (.safetensors), from numbers. It returns Go
// values: distribution, interval, quantiles, probabilities of classes, where the
// variance comes from, how familiar a row is.
//
//	m, err := predict.OpenFile("price.utvi")
//	p, err := m.NewPredictor(predict.Options{Interval: 0.9})
//	rows, err := p.Rows(ctx, []map[string]any{{"size": 82.5, "town": "Graz"}})
//	fmt.Println(rows[0].Numbers[0].Mean, rows[0].Numbers[0].Std)
//
// A Model and a Predictor are shared by any number of goroutines; what a prediction
// needs is kept ready. Wrong input is an error, never a panic.
package predict
