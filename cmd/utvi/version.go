package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"utvi/compute"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go it was built with, and the kernels that run here",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kernels := map[string]string{"avx2": "AVX2", "go": "Go"}[compute.Family()]
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "utvi %s\n%s %s/%s\nkernels %s\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernels)
			return err
		},
	}
}

// version is the module's version, with the revision where the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v += " " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			v += " modified"
		}
	}
	return v
}
