package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// lineProgress returns a callback that keeps one line of progress with the time
// left on a terminal, and stays silent elsewhere; done clears the line.
func lineProgress(w io.Writer) (progress func(done, total int, what string), done func()) {
	if !isTerminal(w) {
		return nil, func() {}
	}
	begin := time.Now()
	progress = func(i, total int, what string) {
		left := ""
		if i > 0 {
			left = fmt.Sprintf(", %v left", (time.Since(begin) * time.Duration(total-i) / time.Duration(i)).Round(time.Second))
		}
		fmt.Fprintf(w, "\r\033[K%d/%d%s: %s", i+1, total, left, what)
	}
	return progress, func() { fmt.Fprint(w, "\r\033[K") }
}

func isTerminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return ok && cwriter.IsTerminal(int(f.Fd()))
}
