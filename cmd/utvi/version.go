package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"utvi/internal/compute"
	"utvi/internal/provenance"
)

func versionCommand() *cobra.Command {
	bill := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go version and the kernels in use",
		Args:  noArgs,
		Example: `  utvi version
  utvi version --sbom > utvi.cdx.json     # the modules in this program, as CycloneDX`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bill {
				return provenance.WriteSBOM(cmd.OutOrStdout())
			}
			kernels := map[string]string{"avx512": "AVX-512", "avx2": "AVX2", "neon": "NEON", "go": "Go"}[compute.Family()]
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "utvi %s\n%s %s/%s\nkernels %s\n",
				provenance.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernels)
			return err
		},
	}
	cmd.Flags().BoolVar(&bill, "sbom", false, "print the modules in this program with their versions and checksums, as CycloneDX JSON")
	return cmd
}
