package main

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fn"
	"utvi/internal/folder"
)

// What a flag completes to is said by its text in the help, and nowhere else: words in angle
// brackets are the values that it takes, and the `word` in back quotes, which the help shows
// behind the flag, says what kind of thing it names.

// completable makes a command and those below it complete their flags and arguments.
func completable(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		complete := completionOf(f)
		if complete != nil {
			// Only a flag that is completed already, or that is not there, is refused.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
		}
	})
	if cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = completeArgument
	}
	for _, c := range cmd.Commands() {
		completable(c)
	}
}

var marked = regexp.MustCompile(`<([a-z0-9(),+-]+)>`)

// completionOf takes the marks out of a flag's text. nil: the shell completes files.
func completionOf(f *pflag.Flag) cobra.CompletionFunc {
	if found := marked.FindAllStringSubmatch(f.Usage, -1); found != nil {
		f.Usage = marked.ReplaceAllString(f.Usage, "$1")
		var words []string
		for _, w := range found {
			words = append(words, w[1])
		}
		return among(f, func(*cobra.Command, []string) []string { return words })
	}
	kind, _ := pflag.UnquoteUsage(f)
	switch kind {
	case "column":
		return among(f, columns)
	case "column=number":
		return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			found := columns(cmd, args)
			for i := range found {
				found[i] += "="
			}
			return begins(found, begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
	case "function":
		return among(f, func(*cobra.Command, []string) []string { return fn.Names() })
	case "folder":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
	if t := f.Value.Type(); t == "string" || t == "stringSlice" || t == "stringArray" {
		return nil
	}
	return cobra.NoFileCompletions // numbers
}

// among completes a flag to one of some words, or to several with commas between them if it
// takes a list.
func among(f *pflag.Flag, words func(cmd *cobra.Command, args []string) []string) cobra.CompletionFunc {
	list := f.Value.Type() == "stringSlice"
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		found := words(cmd, args)
		if list {
			at := strings.LastIndexByte(begun, ',') + 1
			given := strings.Split(begun[:at], ",")
			found = slices.DeleteFunc(slices.Clone(found), func(w string) bool { return slices.Contains(given, w) })
			for i, w := range found {
				found[i] = begun[:at] + listed(w)
			}
		}
		return begins(found, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// listed is a word as a list with commas holds it.
func listed(word string) string {
	if strings.ContainsAny(word, "\",\n") {
		return `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	return word
}

// choices marks words for a flag's text.
func choices(words []string) string { return "<" + strings.Join(words, ">, <") + ">" }

func begins(words []string, begun string) (all []string) {
	for _, w := range words {
		if strings.HasPrefix(w, begun) && !strings.ContainsAny(w, "\n\t") { // which end a word for the shells
			all = append(all, w)
		}
	}
	return all
}

// columns are those of the table on the line, if it can be read: the argument TABLE, or --data.
func columns(cmd *cobra.Command, args []string) []string {
	path := ""
	at := slices.Index(arguments(cmd), "TABLE")
	if at >= 0 && at < len(args) {
		path = args[at]
	}
	if f := cmd.Flags().Lookup("data"); path == "" && f != nil {
		path = f.Value.String()
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || folder.Is(path) { // - and pipes would be read away
		return nil
	}
	value := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return "auto"
	}
	t := tableFlags{header: value("header"), delimiter: value("delimiter"), decimal: value("decimal"), encoding: value("encoding")}
	rows, err := t.open(path, nil)
	if err != nil {
		return nil
	}
	defer rows.Close()
	return slices.Clone(rows.Header().Columns)
}

// arguments are what a command takes beside flags, by its line of use.
func arguments(cmd *cobra.Command) (all []string) {
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if word == "|" || strings.HasPrefix(word, "-") {
			break
		}
		all = append(all, word)
	}
	return all
}

// completeArgument completes the names of files that can stand at a place.
func completeArgument(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all := arguments(cmd)
	at := len(args)
	if n := len(all); at >= n && n > 0 && strings.HasSuffix(all[n-1], "…") {
		at = n - 1
	}
	if at >= len(all) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	switch strings.TrimSuffix(all[at], "…") {
	case "MODEL":
		return []string{"utvi", "safetensors"}, cobra.ShellCompDirectiveFilterFileExt
	case "plan.json":
		return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
	case "SPEC.yaml":
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return nil, cobra.ShellCompDirectiveDefault
}
