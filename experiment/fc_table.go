package experiment

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

func (m *FCMethod) summarise(truth float64) {
	var best, final []float64
	for _, t := range m.Trials {
		best = append(best, slices.Min(t.NLL)-truth)
		final = append(final, t.NLL[len(t.NLL)-1]-truth)
	}
	m.BestMean, m.BestSD = meanSD(best)
	m.FinalMean, m.FinalSD = meanSD(final)
}

// WriteTable prints the scores, and what the run has less than the paper's.
func (r *FCResult) WriteTable(w io.Writer) error {
	full := FCPaper()
	fmt.Fprintf(w, "Validation NLL less the true model's (%.4f nats, %d points), mean ± sd of %d replicates after %d steps:\n\n",
		r.TrueNLL, r.Validation, r.Spec.Replicates, r.Spec.Steps)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "  method\trule\tbest\tfinal")
	for _, m := range r.Methods {
		fmt.Fprintf(t, "  %s\t%s\t%.4f ± %.4f\t%.4f ± %.4f\n", m.Name, m.Rule, m.BestMean, m.BestSD, m.FinalMean, m.FinalSD)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nbest is the lowest score of any epoch, chosen on these same points: it flatters a little.")
	if r.Spec.Replicates >= full.Replicates && r.Spec.Steps >= full.Steps {
		return nil
	}
	_, err := fmt.Fprintf(w, "Scaled down: %d of the paper's %d replicates, %d of its %d steps (--preset paper runs all).\n",
		r.Spec.Replicates, full.Replicates, r.Spec.Steps, full.Steps)
	return err
}
