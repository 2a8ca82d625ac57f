package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"utvi/docs"
	"utvi/internal/provenance"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "utvi",
		Short: "Bayesian neural networks by moment propagation",
		Long: `utvi learns to predict a column of a table, or what images show, and says how far each
prediction may be off. Its Bayesian neural networks carry a mean and a variance per unit;
sigma points push them through any nonlinearity, without sampling.`,
		Example: `  utvi example table -o resin.csv                      a table to begin with
  utvi fit resin.csv --target strength                 learn to predict a column
  utvi predict strength.utvi resin.csv                 predict it, with error bars
  utvi serve strength.utvi                             a page with the model
  utvi moments --fn tanh --mean 0.3 --var 0.5          mean and variance of tanh(x)
  utvi moments --fn relu --rule gh --order 9 --json    the same as JSON, nine points
  utvi moments --fn sin --var 2 --plot sin.svg         and a figure
  utvi reproduce fc                                    the paper's regression, scaled down
  utvi reproduce fc --preset paper --out results       the paper's regression in full
  utvi verify model.safetensors                        check a model's variances`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version: provenance.Version(),
	}
	root.SetVersionTemplate("utvi {{.Version}}\n")
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(fitCommand(), predictCommand(), evalCommand(), calibrateCommand(), updateCommand(), suggestCommand(), exportCommand(), importCommand(), bayesCommand(), exampleCommand(), locateCommand(), momentsCommand(), reproduceCommand(), sweepCommand(), inspectCommand(), verifyCommand(), benchCommand(), serveCommand(), versionCommand(), devicesCommand(), completionCommand())
	completable(root)
	return root
}

// helpCommand is cobra's help command with another error for unknown commands, the glossary and
// the manual pages.
func helpCommand() *cobra.Command {
	manual := ""
	cmd := &cobra.Command{
		Use:               "help [command]",
		Short:             "Help about any command; help words explains the words in the output",
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("man") {
				return writeManual(cmd.Root(), manual)
			}
			if len(args) == 1 && (args[0] == "words" || args[0] == "glossary") {
				_, err := io.WriteString(cmd.OutOrStdout(), plainText(docs.Glossary))
				return err
			}
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
	cmd.Flags().StringVar(&manual, "man", "", "write the manual pages of all commands into this `folder`; man -l shows one")
	return cmd
}

func completeHelp(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	c, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words := commandNames(c)
	if len(args) == 0 {
		words = append(words, "words")
	}
	return begins(words, begun), cobra.ShellCompDirectiveNoFileComp
}

// plainText is Markdown without its marks, for a terminal.
func plainText(markdown string) string {
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			line = strings.TrimLeft(heading, " ")
		}
		b.WriteString(line)
	}
	return strings.NewReplacer("**", "", "`", "").Replace(b.String())
}

func unknownCommand(cmd *cobra.Command, name string) error {
	return usagef("unknown command %q; the commands are %s", name, strings.Join(commandNames(cmd), ", "))
}

func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
