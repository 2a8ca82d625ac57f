package experiment

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// over returns mean and standard deviation of a number over the trials.
func (m DigitsMethod) over(f func(t DigitsTrial) float64) (mean, sd float64) {
	var x []float64
	for _, t := range m.Trials {
		x = append(x, f(t))
	}
	return meanSD(x)
}

// WriteTable prints the accuracies and how well unfamiliar images are told apart.
func (r *DigitsResult) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%d test digits and as many unfamiliar images of each kind; mean ± sd of %d replicates after %d steps of %d.\nAUROC: how often an unfamiliar image is given more entropy, or variance over the weights, than a digit.\n\n",
		r.Spec.TestRows, r.Spec.Replicates, r.Spec.Steps, digitsBatch)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprint(t, "  weights\taccuracy %\tNLL")
	for _, k := range r.Kinds {
		fmt.Fprintf(t, "\t%s, entropy\tvariance", k)
	}
	fmt.Fprintln(t)
	for _, m := range r.Methods {
		accuracy, sd := m.over(func(t DigitsTrial) float64 { return 100 * t.Accuracy })
		nll, nllSD := m.over(func(t DigitsTrial) float64 { return t.NLL })
		fmt.Fprintf(t, "  %s\t%.2f ± %.2f\t%.4f ± %.4f", m.Name, accuracy, sd, nll, nllSD)
		for k := range r.Kinds {
			entropy, entropySD := m.over(func(t DigitsTrial) float64 { return t.Entropy[k] })
			variance, varianceSD := m.over(func(t DigitsTrial) float64 { return t.Variance[k] })
			fmt.Fprintf(t, "\t%.3f ± %.3f\t%.3f ± %.3f", entropy, entropySD, variance, varianceSD)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
