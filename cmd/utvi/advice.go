package main

import (
	"strings"

	"utvi/internal/advice"
)

// asFlag spells a setting of the library as a flag: the library knows no command, and who
// runs one gives flags.
func asFlag(s advice.Setting) string {
	flag := "use --" + s.Name("-")
	if s.Value == "" {
		return flag
	}
	return flag + " " + shellWord(s.Value)
}

// shellWord quotes a value that a shell would take apart.
func shellWord(s string) string {
	if strings.ContainsAny(s, " \t\n'\"$`\\|&;<>()*?[]{}~#!") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
