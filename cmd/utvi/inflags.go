package main

import (
	"regexp"
	"strings"

	"utvi/internal/advice"
)

// asFlag spells a setting of the library as a flag.
func asFlag(s advice.Setting) string {
	if s.Value == "" {
		return "use --" + s.Name("-")
	}
	return "use --" + s.Name("-") + " " + s.Value
}

// The library speaks of settings, since it knows no command; a user of the command needs flags.
var (
	settings = strings.NewReplacer(
		"set header to yes", "use --header yes",
		"set decimal to comma", "use --decimal comma",
		"set decimal to point", "use --decimal point",
		"name it as categorical", "name it with --categorical",
		"name the column as categorical", "name the column with --categorical",
	)
	categorical = regexp.MustCompile(`name column (\S+) as categorical`)
	latest      = regexp.MustCompile(`name (\S+) as the time to hold out the latest rows`)
)

// inFlags is advice of the library with the flags that follow it.
func inFlags(s string) string {
	s = settings.Replace(s)
	s = categorical.ReplaceAllString(s, "name column $1 with --categorical")
	return latest.ReplaceAllString(s, "--time $1 holds out the latest rows")
}
