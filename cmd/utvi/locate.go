package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/locate/camera"
)

const locateHelp = `Work with stacks of camera frames in which single molecules blink (localisation
microscopy).`

func locateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "locate",
		Short: "Molecules in camera frames",
		Long:  locateHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(locateSimulateCommand())
	return cmd
}

// cameraFlags set a camera, by the names that microscopists use.
func cameraFlags(f *pflag.FlagSet, c *camera.Camera) {
	f.Float64Var(&c.Offset, "offset", c.Offset, "counts of a dark pixel (base level, baseline)")
	f.Float64Var(&c.Gain, "gain", c.Gain, "photoelectrons per count (e/ADU, sensitivity)")
	f.Float64Var(&c.EM, "em-gain", c.EM, "gain of the EM register; 0 for a camera without one")
	f.Float64Var(&c.QE, "qe", c.QE, "quantum efficiency, up to 1")
	f.Float64Var(&c.Read, "read-noise", c.Read, "standard deviation of the read-out in electrons, behind the EM register")
}
