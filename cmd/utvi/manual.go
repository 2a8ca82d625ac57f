package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/provenance"
)

const exitStatus = `0: success. 1: failure, with one sentence on standard error. 2: an invalid command line. 3: a
model was written that predicts the held-out rows worse than their mean would. 75: the work
was interrupted; the same command continues it.`

// writeManual writes the manual pages of all commands into a folder.
func writeManual(root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return eachCommand(root, func(cmd *cobra.Command) error {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		return os.WriteFile(filepath.Join(folder, name), manualPage(cmd), 0o666)
	})
}

// eachCommand calls do for a command and for all that it shows below it.
func eachCommand(cmd *cobra.Command, do func(*cobra.Command) error) error {
	if err := do(cmd); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if err := eachCommand(c, do); err != nil {
			return err
		}
	}
	return nil
}

// A roff is a page in the language of man.
type roff struct{ bytes.Buffer }

// manualPage says what the help says.
func manualPage(cmd *cobra.Command) []byte {
	cmd.InitDefaultHelpFlag()
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	var p roff
	fmt.Fprintf(&p, ".TH %s 1 \"\" \"utvi %s\" \"utvi\"\n", strings.ToUpper(escaped(name)), escaped(provenance.Short(provenance.Version())))
	fmt.Fprintf(&p, ".SH NAME\n%s \\- %s\n", escaped(name), escaped(cmd.Short))
	fmt.Fprintf(&p, ".SH SYNOPSIS\n\\fB%s\\fR\n", escaped(cmd.UseLine()))
	if cmd.Long != "" {
		p.WriteString(".SH DESCRIPTION\n")
		p.text(cmd.Long)
	}
	p.commands(cmd)
	p.options(cmd.NonInheritedFlags())
	if cmd.Example != "" {
		p.WriteString(".SH EXAMPLES\n")
		p.text(cmd.Example)
	}
	p.WriteString(".SH EXIT STATUS\n")
	p.text(exitStatus)
	if cmd.HasParent() {
		fmt.Fprintf(&p, ".SH SEE ALSO\n.BR %s (1)\n", escaped(strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")))
	}
	return p.Bytes()
}

// text writes paragraphs, and lines that are indented as they stand.
func (p *roff) text(s string) {
	asIs := false
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != asIs && line != "" {
			asIs = indented
			p.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[asIs])
		}
		switch {
		case line != "":
			p.line(line)
		case asIs:
			p.WriteString("\\&\n")
		default:
			p.WriteString(".PP\n")
		}
	}
	if asIs {
		p.WriteString(".fi\n")
	}
}

// line writes a line that is no request, whatever it begins with.
func (p *roff) line(s string) {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		p.WriteString(`\&`)
	}
	p.WriteString(escaped(s) + "\n")
}

func (p *roff) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.WriteString(".SH COMMANDS\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(p, ".TP\n.BR %s (1)\n", escaped(strings.ReplaceAll(c.CommandPath(), " ", "-")))
			p.line(c.Short)
		}
	}
}

func (p *roff) options(flags *pflag.FlagSet) {
	p.WriteString(".SH OPTIONS\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		p.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(p, "\\fB\\-%s\\fR, ", f.Shorthand)
		}
		fmt.Fprintf(p, "\\fB\\-\\-%s\\fR", escaped(f.Name))
		if kind != "" {
			fmt.Fprintf(p, " \\fI%s\\fR", escaped(kind))
		}
		p.WriteString("\n")
		switch f.DefValue {
		case "", "0", "false", "[]", "0s":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		p.line(usage)
	})
}

func escaped(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
}
