// Package advice holds sentences that tell a user which setting to change. A sentence keeps its
// settings as values, so each reader spells them in their own way: who calls the library sets
// fields, who runs the command gives flags.
//
//	s := advice.New("%q is read as 2056; if it means 2.056, %v", "2,056", advice.Set("Decimal", "comma"))
//	s.String()    // "2,056" is read as 2056; if it means 2.056, set decimal to comma
//	s.In(flags)   // "2,056" is read as 2056; if it means 2.056, use --decimal comma
//
// where the command has
//
//	func flags(s advice.Setting) string { return "use --" + s.Name("-") + " " + s.Value }
//
// Errors carry advice in the same way; InError finds it behind whatever wraps it:
//
//	err := fmt.Errorf("data.csv: %w", advice.Errorf("line 7 is too long; %v", advice.Set("Header", "yes")))
//	err.Error()                  // data.csv: line 7 is too long; set header to yes
//	advice.InError(err, flags)   // data.csv: line 7 is too long; use --header yes
//
// A setting is spelt as an order ("set …", "use …"), so sentences are written around one:
// "…; to hold out the latest rows, %v" or "correct it, or %v".
package advice

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// A Setting is a setting that advice proposes.
type Setting struct {
	Field string // of a Go struct such as fit.Config, table.Options or tabular.Config
	Value string // to set; "" leaves it to the reader
}

// Set proposes a value for a field.
func Set(field, value string) Setting { return Setting{Field: field, Value: value} }

// Name is the field's name in lower case, with sep between its words: InputStd is input_std in
// files of settings and input-std among flags.
func (s Setting) Name(sep string) string {
	var b strings.Builder
	for i, r := range s.Field {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteString(sep)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// String spells the setting as the library does: "set decimal to comma".
func (s Setting) String() string {
	if s.Value == "" {
		return "set " + s.Name("_")
	}
	return "set " + s.Name("_") + " to " + s.Value
}

// A Spelling turns a setting into an order to the reader.
type Spelling func(Setting) string

// A Sentence is text with settings in it. The zero value says nothing.
type Sentence struct {
	format string
	args   []any
}

// New returns a sentence. Arguments are formatted as fmt does; those that are settings, sentences
// or errors with advice are spelt for the reader, so that their verb must be %v or %w.
func New(format string, args ...any) Sentence { return Sentence{format, args} }

// Plain returns a sentence without settings.
func Plain(text string) Sentence { return Sentence{"%s", []any{text}} }

// String is the sentence as the library spells it.
func (s Sentence) String() string { return s.In(Setting.String) }

// In is the sentence with its settings spelt for a reader.
func (s Sentence) In(spell Spelling) string {
	args := make([]any, len(s.args))
	for i, a := range s.args {
		switch a := a.(type) {
		case Setting:
			args[i] = spell(a)
		case Sentence:
			args[i] = a.In(spell)
		case error:
			args[i] = errors.New(InError(a, spell)) // an error again, because its verb may be %w
		default:
			args[i] = a
		}
	}
	return fmt.Errorf(s.format, args...).Error()
}

// MarshalText lets files hold the sentence as the library spells it.
func (s Sentence) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An adviceError is an error whose text is a sentence.
type adviceError struct{ Sentence }

func (e *adviceError) Error() string { return e.String() }

// Unwrap returns the errors among the arguments.
func (e *adviceError) Unwrap() []error {
	var all []error
	for _, a := range e.args {
		if err, ok := a.(error); ok {
			all = append(all, err)
		}
	}
	return all
}

// Errorf is fmt.Errorf for an error that carries settings.
func Errorf(format string, args ...any) error { return &adviceError{New(format, args...)} }

// InError is the text of an error with its settings spelt for a reader. Whatever wraps an error
// with advice has the advice's own text in its text.
func InError(err error, spell Spelling) string {
	e, ok := errors.AsType[*adviceError](err)
	if !ok {
		return err.Error()
	}
	return strings.Replace(err.Error(), e.Error(), e.In(spell), 1)
}
