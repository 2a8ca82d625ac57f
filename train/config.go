// Package train minimises a network's negative log-likelihood plus the KL
// divergence of its weights from their prior.
//
// The loss of a batch is
//
//	(1/B)·Σ −ln p(y | moments) + w·KL/N
//
// with B the rows of the batch, N the rows of an epoch, and w the KL schedule's
// weight, 1 for the evidence lower bound. The trainer knows N; nobody else
// divides anything.
//
// The moments are propagated through the network (Config.Draws = 0), or the loss
// is averaged over networks drawn from the weights (Bayes by backprop).
package train

import (
	"errors"
	"fmt"
	"reflect"

	"utvi/data"
	"utvi/engine"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/model"
	"utvi/optim"
	"utvi/vi"
)

// A Config says how a network is trained.
type Config struct {
	Data       data.Source           // serves one trainer at a time
	Likelihood likelihood.Likelihood // nil means likelihood.Normal{}; see likelihood.ForUncertainInputs
	Optimizer  optim.AdamW           // the zero value means optim.Paper()
	KL         optim.KLSchedule      // nil means optim.FullKL()
	Prior      *vi.EmpiricalBayes    // nil leaves every prior as it is
	Draws      int                   // 0 propagates moments; else networks drawn per step (Bayes by backprop)
	Batch      int                   // rows in a step; 0 means 128; at most an epoch
	Steps      int                   // of the training in total
	Seed       uint64                // for the order of the rows and for rules that draw
	Workers    int                   // 0 means GOMAXPROCS; the result does not depend on it

	// Engine trains the network; nil means engine.CPU.
	Engine engine.Engine[float32]

	// Beside is how many trainings of this shape are planned to run side by side, this one
	// included; 0 means 1. A card has faster arithmetic for many small networks, so the
	// bits depend on it, but never on how many of them happen to run. See engine.Job.
	Beside int

	// Checkpoint is the file for the state of the training, written every
	// CheckpointEvery steps (0: at the end and when the training is stopped). If the
	// file exists, the training continues from it, bit for bit. Its folder must exist. A
	// checkpoint of another network, seed, batch, likelihood, optimizer or number of rows is
	// refused; that the rows themselves, the rate and the KL schedule are the same is up to you.
	Checkpoint      string
	CheckpointEvery int
}

// complete replaces zero fields by their defaults.
func (c *Config) complete() {
	if c.Likelihood == nil {
		c.Likelihood = likelihood.Normal{}
	}
	if c.Data != nil && c.Data.Uncertain() {
		c.Likelihood = likelihood.ForUncertainInputs(c.Likelihood)
	}
	if reflect.ValueOf(c.Optimizer).IsZero() {
		c.Optimizer = optim.Paper()
	}
	if c.KL == nil {
		c.KL = optim.FullKL()
	}
	if c.Engine == nil {
		c.Engine = engine.CPU[float32]()
	}
	if c.Batch == 0 {
		c.Batch = 128
	}
}

// check completes the settings and reports what is wrong with them, or does not fit the network.
func (c *Config) check(m *model.Model) error {
	if m == nil {
		return errors.New("train: no network")
	}
	c.complete()
	if err := c.Optimizer.Check(); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if c.Data == nil {
		return errors.New("train: no data; set Config.Data")
	}
	if c.Data.Rows() < 1 {
		return fmt.Errorf("train: an epoch has %d rows; at least 1 is needed", c.Data.Rows())
	}
	if err := c.checkCounts(); err != nil {
		return err
	}
	c.Batch = min(c.Batch, c.Data.Rows())
	var err error
	c.Likelihood, err = settle(m, c.Likelihood)
	if err != nil {
		return err
	}
	if err := c.checkWidths(m); err != nil {
		return err
	}
	if c.Prior != nil {
		if err := c.Prior.Check(); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return nil
}

// checkCounts reports settings that count something, and cannot be.
func (c *Config) checkCounts() error {
	switch {
	case c.Batch < 1 || c.Steps < 1:
		return fmt.Errorf("train: %d steps of %d rows; both must be at least 1", c.Steps, c.Batch)
	case c.Beside < 0:
		return fmt.Errorf("train: %d trainings side by side; Beside must be at least 0", c.Beside)
	case c.Draws < 0 || c.Draws > mostDraws:
		return fmt.Errorf("train: %d draws per step; use 1 to %d, or 0 to propagate moments", c.Draws, mostDraws)
	case c.Workers < 0 || c.CheckpointEvery < 0:
		return errors.New("train: Workers and CheckpointEvery must be ≥ 0")
	}
	return nil
}

// mostDraws is the most networks that a step may draw.
const mostDraws = 1 << 20

// checkWidths reports data whose rows are not those of the network.
func (c *Config) checkWidths(m *model.Model) error {
	if c.Data.Inputs() != m.Inputs() {
		return fmt.Errorf("train: the data have %d inputs; the network needs %d", c.Data.Inputs(), m.Inputs())
	}
	targets, err := c.Likelihood.Targets(m.Outputs())
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if c.Data.Targets() != targets {
		return fmt.Errorf("train: the data have %d targets; the network's %d outputs under %v need %d", c.Data.Targets(), m.Outputs(), c.Likelihood, targets)
	}
	return nil
}

// pool returns the workers to train with.
func (c *Config) pool() *compute.Pool {
	return compute.NewPool(compute.Workers(c.Workers))
}
