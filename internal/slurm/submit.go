package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)`)

// MaxArraySize asks the cluster.
func MaxArraySize(ctx context.Context) (int, error) {
	out, err := call(ctx, "", "", "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	m := maxArraySize.FindStringSubmatch(out)
	if m == nil {
		return 0, errors.New("scontrol show config prints no MaxArraySize")
	}
	return strconv.Atoi(m[1])
}

// Submit hands scripts to sbatch, in order, and returns the jobs' ids, also of
// those that were taken before one was refused. Their output goes to the folder
// logs, which must exist: sbatch is run in it, so that its name needs no quoting.
func Submit(ctx context.Context, logs string, scripts []Script) (ids []string, err error) {
	if strings.ContainsAny(logs, `%\`) {
		return nil, fmt.Errorf("the folder %s has a %% or \\ in its name, which Slurm would read as a pattern; choose another", logs)
	}
	for _, s := range scripts {
		args := []string{"--parsable"}
		if len(s.After) > 0 {
			after := "afterany"
			for _, i := range s.After {
				after += ":" + ids[i]
			}
			args = append(args, "--dependency="+after)
		}
		out, err := call(ctx, logs, s.Text, "sbatch", args...)
		if err != nil {
			return ids, err
		}
		id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // a cluster's name may follow
		if _, err := strconv.Atoi(id); err != nil {
			return ids, fmt.Errorf("sbatch answered %q, which is not a job ID", strings.TrimSpace(out))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func call(ctx context.Context, dir, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stdout = &out
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("%s is not installed here; run this on a machine that can submit jobs", name)
		}
		return "", fmt.Errorf("%s failed: %w: %s", name, err, strings.Join(strings.Fields(errs.String()), " "))
	}
	return out.String(), nil
}
