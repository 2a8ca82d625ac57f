package advice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
)

func flags(s Setting) string {
	if s.Value == "" {
		return "use --" + s.Name("-")
	}
	return "use --" + s.Name("-") + " " + s.Value
}

// Each reader sees a setting in their own spelling, however deep it is.
func TestSpelling(t *testing.T) {
	inner := New("if it means %g, %v", 2.056, Set("Decimal", "comma"))
	for _, c := range []struct {
		say           Sentence
		fields, flags string
	}{
		{New("100 %% of %q; %v", "2,056", inner), `100 % of "2,056"; if it means 2.056, set decimal to comma`, `100 % of "2,056"; if it means 2.056, use --decimal comma`},
		{New("remove them, or %v", Set("Group", "")), "remove them, or set group", "remove them, or use --group"},
		{New("%v or %v", Set("InputStd", "x=1"), Set("Ignore", "x")), "set input_std to x=1 or set ignore to x", "use --input-std x=1 or use --ignore x"},
		{Plain("50 % of the rows: set group"), "50 % of the rows: set group", "50 % of the rows: set group"},
	} {
		if got := c.say.String(); got != c.fields {
			t.Errorf("the library says %q, want %q", got, c.fields)
		}
		if got := c.say.In(flags); got != c.flags {
			t.Errorf("the command says %q, want %q", got, c.flags)
		}
		if text, err := json.Marshal(c.say); err != nil || string(text) != mustJSON(t, c.fields) {
			t.Errorf("a file holds %s, %v", text, err)
		}
	}
}

func mustJSON(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Errors keep their advice behind wrappers, and what they wrap.
func TestErrors(t *testing.T) {
	low := Errorf("no column a: %w; %v", io.EOF, Set("Header", "yes"))
	for _, c := range []struct {
		err           error
		fields, flags string
	}{
		{low, "no column a: EOF; set header to yes", "no column a: EOF; use --header yes"},
		{fmt.Errorf("f.csv: %w!", low), "f.csv: no column a: EOF; set header to yes!", "f.csv: no column a: EOF; use --header yes!"},
		{Errorf("%w, or %v", low, Set("Ignore", "a")), "no column a: EOF; set header to yes, or set ignore to a", "no column a: EOF; use --header yes, or use --ignore a"},
		{errors.New("set header to yes"), "set header to yes", "set header to yes"},
	} {
		if got := c.err.Error(); got != c.fields {
			t.Errorf("the library says %q, want %q", got, c.fields)
		}
		if got := InError(c.err, flags); got != c.flags {
			t.Errorf("the command says %q, want %q", got, c.flags)
		}
	}
	if !errors.Is(fmt.Errorf("f: %w", low), io.EOF) {
		t.Error("an error with advice does not wrap its argument")
	}
}
