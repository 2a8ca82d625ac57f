// Package sweep makes plans of numbered, independent trials, and runs them.
//
// A trial is a kind (who runs it) and a specification (what the kind reads). It
// is deterministic: the same trial gives the same bits wherever it runs. It is
// idempotent: a finished trial is not repeated, a started one continues from its
// checkpoint. Its result is written completely or not at all.
//
//	plan, err := sweep.NewPlan("widths", trials...)
//	results, err := sweep.Runner{Kinds: kinds, Dir: "out/trials"}.Run(ctx, plan)
//
// One process can run the whole plan, or each trial can run in its own process on
// another machine: processes share only the folder.
package sweep
