package model

import (
	"context"

	"utvi/gauss"
	"utvi/rng"
)

// An EnsembleVerification holds the verification of each member, and the ratio of σ
// over all members.
type EnsembleVerification struct {
	Members []*Verification `json:"members"`
	Ratio   SigmaRatio      `json:"sigma_ratio"`
}

// Verify verifies every member, with networks drawn from that member.
func (e *Ensemble) Verify(ctx context.Context, x gauss.Batch[float32], c VerifyConfig) (*EnsembleVerification, error) {
	v := &EnsembleVerification{}
	all := &ratios{}
	err := e.each(c, func(m *Model, c VerifyConfig) error {
		one, err := m.Verify(ctx, x, c)
		if err == nil {
			v.Members = append(v.Members, one)
			all.add(one.ratios)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	v.Ratio = *all.summary(c)
	return v, nil
}

// SigmaRatio compares the outputs of all members, each with networks drawn from that
// member.
func (e *Ensemble) SigmaRatio(ctx context.Context, x gauss.Batch[float32], c VerifyConfig) (*SigmaRatio, error) {
	all := &ratios{}
	err := e.each(c, func(m *Model, c VerifyConfig) error {
		one := &ratios{}
		err := addRatios(ctx, one, m, x, c)
		all.add(one)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all.summary(c), nil
}

// each calls f for each member with its share of the progress and its own seed: the
// errors of members that share draws would not average out.
func (e *Ensemble) each(c VerifyConfig, f func(m *Model, c VerifyConfig) error) error {
	for k, m := range e.Members {
		one := c
		if k > 0 {
			one.Seed = rng.Uint64(rng.New(c.Seed), uint64(k))
		}
		if c.Progress != nil {
			one.Progress = func(done, total int) { c.Progress(k*total+done, len(e.Members)*total) }
		}
		if err := f(m, one); err != nil {
			return err
		}
	}
	return nil
}
