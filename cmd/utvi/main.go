// Command utvi is the command line of the library. It fits a table and predicts its
// rows, runs the paper's experiments and sweeps of trials, shows and verifies saved
// models, computes the moments of a Gaussian through a function, and measures speed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"utvi/internal/advice"
	"utvi/internal/compute"
)

func main() {
	if err := withinLimit(); err != nil {
		fmt.Fprintln(os.Stderr, "utvi:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	os.Exit(run(ctx, newRoot(), os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status: 0 success, 2 an
// invalid command line, 75 interrupted work that the same command continues, 1 any other
// failure.
func run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = 1
			where := debug.Stack()
			if t, ok := p.(*compute.TaskPanic); ok {
				p, where = t.Value, t.Stack
			}
			fmt.Fprintf(stderr, "utvi: internal error: %s (UTVI_DEBUG=1 shows where)\n", oneLine(fmt.Sprint(p)))
			if os.Getenv("UTVI_DEBUG") == "1" {
				stderr.Write(where)
			}
		}
	}()
	out := &output{w: stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted") // the same for all commands
	}
	fmt.Fprintln(stderr, "utvi:", oneLine(advice.InError(err, asFlag)))
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	return 1
}
