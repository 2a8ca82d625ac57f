// Package predict opens a model file and predicts rows with it: a tabular model
// (.utvi), from named values, or a network (.safetensors), from numbers. It returns Go
// values: distribution, interval, quantiles, probabilities of classes, where the
// variance comes from, how unlike the training rows a row is.
//
//	m, err := predict.OpenFile("price.utvi")
//	p, err := m.NewPredictor(predict.Options{Interval: 0.9})
//	rows, err := p.Rows(ctx, []map[string]any{{"size": 82.5, "town": "Graz"}})
//	fmt.Println(rows[0].Numbers[0].Mean, rows[0].Numbers[0].Std)
//
// Any number of goroutines can share a Model and a Predictor. Networks and memory stay
// ready between predictions. Wrong input is an error, never a panic.
package predict
