package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// stepProgress returns a callback that shows the steps of a training that takes longer than two
// seconds, with the time left: in one line on a terminal, elsewhere in a few lines.
func stepProgress(cmd *cobra.Command) (progress func(step, steps int, nll float64), done func()) {
	line, done := lineProgress(cmd.ErrOrStderr())
	begin := time.Now()
	next := 2 * time.Second
	return func(step, steps int, nll float64) {
		passed := time.Since(begin)
		if passed < next || step == steps {
			return
		}
		score := fmt.Sprintf("%.4g nats per row", nll)
		if line != nil {
			line(step, steps, score)
			next = passed + time.Second/10
			return
		}
		left := passed * time.Duration(steps-step) / time.Duration(step)
		tell(cmd, "step %d of %d, %v left: %s", step, steps, left.Round(time.Second), score)
		next = 2 * passed
	}, done
}
