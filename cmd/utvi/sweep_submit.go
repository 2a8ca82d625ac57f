package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/atomicfile"
	"utvi/internal/kubernetes"
	"utvi/internal/slurm"
	"utvi/internal/sweep"
)

// A submission is what the flags of sweep submit ask for.
type submission struct {
	folder  sweepFolder
	engine  string
	indices string
	dryRun  bool
	slurm   slurm.Config
	kube    kubernetes.Config

	max    int // trials at a time
	stdout io.Writer
	stderr io.Writer
}

// engineFlags belong to one engine alone.
var engineFlags = map[string][]string{
	"slurm":      {"partition", "time", "cpus", "mem", "account", "sbatch", "restarts", "indices", "dry-run"},
	"kubernetes": {"image", "claim", "namespace", "cpu", "memory", "retries", "plan-path"},
}

func sweepSubmitCommand() *cobra.Command {
	s := &submission{}
	cmd := &cobra.Command{
		Use:   "submit plan.json",
		Short: "Submit a plan to Slurm, or print it as a Kubernetes manifest",
		Long: `With --engine slurm: submit the trials without a result as array jobs, and a job
that collects the results at the end; print the IDs of the jobs. An array element
that is killed, or reaches its time limit, queues itself again and continues from its
checkpoint. All nodes must see the folder.

With --engine kubernetes: print a manifest of Indexed Jobs, to be applied by kubectl:
  utvi sweep submit plan.json --engine kubernetes --image utvi:1 --claim results | kubectl apply -f -

You may edit the plan afterwards: the jobs use a copy.`,
		Example: `  utvi sweep submit plan.json --engine slurm --partition short --time 1:00:00 --max-parallel 50
  utvi sweep submit plan.json --engine slurm --dry-run
  utvi sweep submit plan.json --engine slurm --indices 3,7-9
  utvi sweep submit plan.json --engine kubernetes --image utvi:1 --claim results > jobs.yaml`,
		Args: planArg,
	}
	f := cmd.Flags()
	s.folder.flag(f)
	f.StringVar(&s.engine, "engine", "", "<slurm> or <kubernetes>")
	f.IntVar(&s.max, "max-parallel", 0, "number of trials at the same time (default no limit with Slurm, 10 with Kubernetes)")
	f.StringVar(&s.indices, "indices", "", "slurm: submit these, such as 3,7-9 (default those without a result that are not running)")
	f.BoolVar(&s.dryRun, "dry-run", false, "slurm: print the scripts and submit nothing")
	f.StringVar(&s.slurm.Partition, "partition", "", "slurm: partition (default the cluster's)")
	f.StringVar(&s.slurm.Time, "time", "", "slurm: time limit of a trial between two checkpoints, such as 2:00:00")
	f.IntVar(&s.slurm.CPUs, "cpus", 1, "slurm: CPUs of a trial")
	f.StringVar(&s.slurm.Memory, "mem", "", "slurm: memory of a trial, such as 4G")
	f.StringVar(&s.slurm.Account, "account", "", "slurm: account to charge")
	f.StringArrayVar(&s.slurm.Options, "sbatch", nil, "slurm: further option of sbatch for the trials, such as --sbatch=--qos=long; may be repeated")
	f.IntVar(&s.slurm.Restarts, "restarts", 20, "slurm: how often a trial may be queued again")
	f.StringVar(&s.kube.Image, "image", "", "kubernetes: image with utvi as its entry point")
	f.StringVar(&s.kube.Claim, "claim", "", "kubernetes: claim of a volume for the results that all pods can write to")
	f.StringVar(&s.kube.Namespace, "namespace", "", "kubernetes: namespace")
	f.StringVar(&s.kube.CPU, "cpu", "1", "kubernetes: CPUs of a trial, such as 2 or 500m")
	f.StringVar(&s.kube.Memory, "memory", "1Gi", "kubernetes: memory of a trial")
	f.IntVar(&s.kube.Retries, "retries", 3, "kubernetes: how often a trial that fails is started again")
	f.StringVar(&s.kube.PlanPath, "plan-path", "", "kubernetes: where pods find the plan, if not in a ConfigMap")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.stdout = cmd.OutOrStdout()
		s.stderr = cmd.ErrOrStderr()
		if err := s.check(f); err != nil {
			return err
		}
		p, err := loadPlan(args[0])
		if err != nil {
			return err
		}
		if s.engine == "kubernetes" {
			return s.kubernetes(p)
		}
		return s.submit(cmd.Context(), p, args[0])
	}
	return cmd
}

func (s *submission) check(f *pflag.FlagSet) error {
	if s.engine != "slurm" && s.engine != "kubernetes" {
		return usagef("--engine is %q; it must be slurm or kubernetes", s.engine)
	}
	for engine, names := range engineFlags {
		for _, name := range names {
			if engine != s.engine && f.Changed(name) {
				return usagef("--%s works with --engine %s only, not with %s", name, engine, s.engine)
			}
		}
	}
	if f.Changed("out") && s.engine == "kubernetes" {
		return usagef("--out works with --engine slurm only; in Kubernetes the results are in the volume, at %s", kubernetes.Results)
	}
	switch {
	case s.engine != "kubernetes":
	case s.kube.Image == "":
		return usagef("no image is given; name the image with --image, such as utvi:1")
	case s.kube.Claim == "":
		return usagef("no volume for the results is given; name its claim with --claim")
	}
	for _, x := range []struct {
		name       string
		have, want int
	}{{"max-parallel", s.max, 0}, {"cpus", s.slurm.CPUs, 1}, {"restarts", s.slurm.Restarts, 0}, {"retries", s.kube.Retries, 0}} {
		if x.have < x.want {
			return usagef("--%s is %d; it must be at least %d", x.name, x.have, x.want)
		}
	}
	return nil
}

func (s *submission) kubernetes(p *sweep.Plan) error {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	c := s.kube
	c.Name = p.Name
	c.Trials = len(p.Trials)
	c.Plan = b.Bytes()
	c.Parallel = s.max
	if c.Parallel == 0 {
		c.Parallel = 10
	}
	return misuse(c.Write(s.stdout))
}

func (s *submission) submit(ctx context.Context, p *sweep.Plan, path string) error {
	dir, err := filepath.Abs(s.folder.of(path))
	if err != nil {
		return err
	}
	c := s.slurm
	c.Name, c.MaxParallel = p.Name, s.max
	c.Indices, err = s.choose(p, dir)
	if err != nil {
		return err
	}
	if len(c.Indices) == 0 && !s.dryRun {
		_, err := fmt.Fprintf(s.stdout, "Nothing to submit: every trial is done or running.\n")
		return err
	}
	if len(c.Indices) == 0 {
		fmt.Fprintf(s.stderr, "every trial is done or running, so nothing would be submitted; these are the scripts of all %d\n", len(p.Trials))
		c.Indices = sweep.Indices(sweep.Status(dir, p), sweep.Done, sweep.Running)
	}
	c.MaxArraySize, err = slurm.MaxArraySize(ctx)
	if err != nil {
		if !s.dryRun {
			return err
		}
		c.MaxArraySize = 1001 // Slurm's default
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	logs := filepath.Join(dir, "log")
	plan, err := s.keep(p, dir, logs)
	if err != nil {
		return err
	}
	summary, err := filepath.Abs(strings.TrimSuffix(path, ".json") + ".summary")
	if err != nil {
		return err
	}
	c.Trial = []string{program, "sweep", "trial", plan, "--out", dir}
	c.Collect = []string{program, "sweep", "collect", plan, "--out", dir, "--to", summary}
	scripts, err := c.Scripts()
	if err != nil {
		return misuse(err)
	}
	if s.dryRun {
		return printScripts(s.stdout, logs, scripts)
	}
	ids, err := slurm.Submit(ctx, logs, scripts)
	if err != nil {
		if len(ids) > 0 {
			err = fmt.Errorf("%w; already submitted: %s; cancel these jobs with scancel if you do not want them", err, strings.Join(ids, " "))
		}
		return err
	}
	last := len(ids) - 1
	_, err = fmt.Fprintf(s.stdout, "Submitted %d of %d trials as %s; job %s then collects the results in %s.\n",
		len(c.Indices), len(p.Trials), jobList(ids[:last]), ids[last], summary)
	return err
}

func jobList(ids []string) string {
	if len(ids) == 1 {
		return "array job " + ids[0]
	}
	return "array jobs " + strings.Join(ids, " ")
}

// choose takes the trials asked for, or those that are neither done nor running.
func (s *submission) choose(p *sweep.Plan, dir string) ([]int, error) {
	if s.indices != "" {
		all, err := sweep.ParseRanges(s.indices, len(p.Trials))
		return all, misuse(err)
	}
	return sweep.Indices(sweep.Status(dir, p), sweep.Failed, sweep.Missing), nil
}

// keep makes the folders and a copy of the plan for the jobs.
func (s *submission) keep(p *sweep.Plan, dir, logs string) (string, error) {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	path := filepath.Join(dir, "plan-"+hex.EncodeToString(sum[:4])+".json")
	if s.dryRun {
		return path, nil
	}
	if err := makeFolder(logs); err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

func printScripts(w io.Writer, logs string, scripts []slurm.Script) error {
	var err error
	for i, s := range scripts {
		after := ""
		for _, j := range s.After {
			after += fmt.Sprintf(":<id of job %d>", j+1)
		}
		if after != "" {
			after = " --dependency=afterany" + after
		}
		_, e := fmt.Fprintf(w, "# job %d: cd %s && sbatch --parsable%s\n%s\n", i+1, slurm.Quote(logs), after, s.Text)
		err = errors.Join(err, e)
	}
	return err
}
