package serve

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A prediction that takes too long, or whose client goes away, is told by its own status, whichever
// way it was asked for; what else is wrong with the rows is the client's fault.
func TestEndsAreNotInvalid(t *testing.T) {
	for err, want := range map[error]kind{
		context.DeadlineExceeded: late,
		context.Canceled:         gone,
		fmt.Errorf("a piece: %w", context.DeadlineExceeded): late,
		errors.New("row 3 is wrong"):                        invalid,
		failf(busy, "try again"):                            busy,
	} {
		if got := faultOf(as(invalid, err)); got.kind != want {
			t.Errorf("%v becomes %v %q, want %v", err, got.kind, got.text, want)
		}
	}
}
