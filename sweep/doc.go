// Package sweep holds plans of numbered, independent trials, and runs them.
//
// A trial is a kind (who runs it) and a specification (what the kind reads). It
// is deterministic: the same trial gives the same bits wherever it runs. It is
// idempotent: a finished one is not done again, a started one continues from its
// checkpoint. Its result is written whole or not at all.
//
//	plan, err := sweep.NewPlan("widths", trials...)
//	results, err := sweep.Runner{Kinds: kinds, Dir: "out/trials"}.Run(ctx, plan)
//
// One process may run all of a plan, or every trial a process of its own on
// another machine: they share nothing but the folder.
package sweep
