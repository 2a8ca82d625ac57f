// Package slurm hands a plan to Slurm: array jobs whose elements are its trials,
// and a job that collects what they found.
//
// It needs nothing of the administrator. An element runs its trial under a short
// shell, because a script that is killed by signal 9 is not queued again, while
// one that sees its child killed can see to that itself.
package slurm

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"utvi/internal/sweep"
)

// A Config says what is submitted and how.
type Config struct {
	Name    string   // of the jobs
	Trial   []string // the command that runs a trial; --offset N is added to it
	Collect []string // the command that collects; none: no such job
	Indices []int    // of the trials, ascending

	MaxArraySize int // the cluster's: an array's numbers are below it
	MaxParallel  int // trials at a time; 0: as many as the cluster will
	Restarts     int // how often an element may be queued again
	CPUs         int // of a trial; 0 stands for 1

	// What sbatch calls so; "" leaves it to the cluster.
	Partition, Time, Memory, Account string
	Options                          []string // others, such as --gres=gpu:1
}

// A Script is one submission.
type Script struct {
	Text  string
	After []int // places of the scripts that must have ended before, well or not
}

// harmless is what options of sbatch are made of. Anything else would be a slip,
// and might read as another option.
var harmless = regexp.MustCompile(`^[A-Za-z0-9_.,:;+/@=%*&|!()\[\]-]+$`)

func (c Config) check() error {
	if len(c.Indices) == 0 {
		return errors.New("no trials to submit")
	}
	if c.MaxArraySize < 1 {
		return fmt.Errorf("the cluster's MaxArraySize is %d: it takes no arrays", c.MaxArraySize)
	}
	for _, x := range []struct{ name, value string }{{"partition", c.Partition}, {"time", c.Time}, {"mem", c.Memory}, {"account", c.Account}} {
		if x.value != "" && !harmless.MatchString(x.value) {
			return fmt.Errorf("--%s is %q; it must be one word of letters, digits and signs", x.name, x.value)
		}
	}
	for _, o := range c.Options {
		if !strings.HasPrefix(o, "--") || !harmless.MatchString(o) {
			return fmt.Errorf("%q is not an option of sbatch; write it like --gres=gpu:1", o)
		}
	}
	return nil
}

// Scripts are the array jobs, as many as the cluster's largest array asks for,
// and the job that collects.
func (c Config) Scripts() ([]Script, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var all []Script
	for from := 0; from < len(c.Indices); {
		chunk := c.Indices[from] / c.MaxArraySize
		to := from
		var ids []int
		for ; to < len(c.Indices) && c.Indices[to]/c.MaxArraySize == chunk; to++ {
			ids = append(ids, c.Indices[to]%c.MaxArraySize)
		}
		s := Script{Text: c.array(ids, chunk*c.MaxArraySize)}
		if c.MaxParallel > 0 && len(all) > 0 {
			s.After = []int{len(all) - 1} // the limit holds within an array only
		}
		all = append(all, s)
		from = to
	}
	if len(c.Collect) > 0 {
		s := Script{Text: c.collect()}
		for i := range all {
			s.After = append(s.After, i)
		}
		all = append(all, s)
	}
	return all, nil
}

func (c Config) array(ids []int, offset int) string {
	var b strings.Builder
	array := sweep.Ranges(ids)
	if c.MaxParallel > 0 {
		array += "%" + strconv.Itoa(c.MaxParallel)
	}
	c.head(&b, "%A_%a.log", max(1, c.CPUs), "--array="+array, "--requeue", "--signal=B:TERM@30")
	if c.Time != "" {
		fmt.Fprintf(&b, "#SBATCH --time=%s\n", c.Time)
	}
	if c.Memory != "" {
		fmt.Fprintf(&b, "#SBATCH --mem=%s\n", c.Memory)
	}
	for _, o := range c.Options {
		fmt.Fprintf(&b, "#SBATCH %s\n", o)
	}
	fmt.Fprintf(&b, element, Quote(append(c.Trial, "--offset", strconv.Itoa(offset))...), c.Restarts)
	return b.String()
}

// element runs a trial. It may be told to end before it knows its child. wait
// returns early when a signal is caught, so it is asked until the child has gone.
// 75 is a trial that was told to end, 137 and 143 one that signal 9, or 15 before it
// listened, has killed. A job that is no longer running has been cancelled, or is
// queued again by Slurm.
const element = `
export GOMAXPROCS="${SLURM_CPUS_PER_TASK:-1}"
me="${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
told= child=
trap 'told=1; [ -n "$child" ] && kill -TERM "$child" 2>/dev/null' TERM
%s &
child=$!
[ -n "$told" ] && kill -TERM "$child" 2>/dev/null
while wait "$child"; kill -0 "$child" 2>/dev/null; do :; done
wait "$child"
code=$?
if [ "$code" -eq 75 ] || [ "$code" -eq 137 ] || [ "$code" -eq 143 ]; then
  state=$(scontrol show job "$me" | sed -n 's/^ *JobState=\([A-Z_]*\).*/\1/p' | head -n 1)
  if [ "$state" = RUNNING ] && [ "${SLURM_RESTART_COUNT:-0}" -lt %d ]; then
    echo "exit status $code: element $me is queued again" >&2
    scontrol requeue "$me" && sleep 60 # Slurm ends this script
  fi
fi
exit "$code"
`

func (c Config) collect() string {
	var b strings.Builder
	c.head(&b, "collect_%j.log", 1)
	fmt.Fprintf(&b, "\n%s\n", Quote(c.Collect...))
	return b.String()
}

// head writes what all scripts begin with.
func (c Config) head(b *strings.Builder, log string, cpus int, options ...string) {
	b.WriteString("#!/bin/bash\n")
	options = append([]string{
		"--job-name=" + jobName(c.Name),
		"--output=" + log, // in the folder of the submission
		"--open-mode=append",
		fmt.Sprintf("--cpus-per-task=%d", cpus),
	}, options...)
	if c.Partition != "" {
		options = append(options, "--partition="+c.Partition)
	}
	if c.Account != "" {
		options = append(options, "--account="+c.Account)
	}
	for _, o := range options {
		fmt.Fprintf(b, "#SBATCH %s\n", o)
	}
}

// jobName keeps letters, digits and ._- of a name.
func jobName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, s)
	return "utvi-" + s
}

// Quote writes a command so that a shell reads the very same words.
func Quote(words ...string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = w
		if !plainWord.MatchString(w) {
			q[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(q, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)
