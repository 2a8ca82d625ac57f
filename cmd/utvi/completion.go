package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const completionHelp = `Print a script that makes a shell complete commands, flags, the values that flags take and
the columns of the table on the line. SHELL is bash, zsh, fish or powershell. Shells that are
started afterwards complete.`

const completionExamples = `  # bash, with the package bash-completion
  mkdir -p ~/.local/share/bash-completion/completions
  utvi completion bash > ~/.local/share/bash-completion/completions/utvi

  # zsh: ~/.zshrc must have fpath+=(~/.zfunc) before compinit
  mkdir -p ~/.zfunc
  utvi completion zsh > ~/.zfunc/_utvi

  # fish
  mkdir -p ~/.config/fish/completions
  utvi completion fish > ~/.config/fish/completions/utvi.fish

  # PowerShell; in $PROFILE, for every session
  utvi completion powershell | Out-String | Invoke-Expression`

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:                   "completion SHELL",
		Short:                 "Print a script with which a shell completes this command",
		Long:                  completionHelp,
		Example:               completionExamples,
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return shells, cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usagef("completion takes one shell: %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return fmt.Errorf("no script for %s", args[0])
		},
	}
}
