package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"utvi/serve"
)

func serveCommand() *cobra.Command {
	var at serve.Listen
	cmd := &cobra.Command{
		Use:   "serve MODEL…",
		Short: "Answer predictions over HTTP",
		Example: `  utvi serve price.utvi
  utvi serve price=models/2026.utvi digits.safetensors`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("serve needs at least one model file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c := serve.Config{Log: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))}
			for _, a := range args {
				m, err := serve.ParseSource(a)
				if err != nil {
					return misuse(err)
				}
				c.Models = append(c.Models, m)
			}
			s, err := serve.New(c)
			if err != nil {
				return err
			}
			return s.Run(cmd.Context(), at)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&at.HTTP, "http", "127.0.0.1:8080", "address to answer HTTP at")
	return cmd
}
