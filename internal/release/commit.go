package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A commit is what is released: its version and its time, which all files get.
type commit struct {
	version string // 0.3.0, or 0.3.0-dev.20261118231501 of a commit that is no release
	hash    string
	time    time.Time
}

// python is the version as Python's packages write it.
func (c commit) python() string { return strings.ReplaceAll(c.version, "-dev.", ".dev") }

// debian is the version as Debian's packages write it: ~ comes before the release.
func (c commit) debian() string { return strings.ReplaceAll(c.version, "-dev.", "~dev") }

var heading = regexp.MustCompile(`(?m)^## (Unreleased|(\d+)\.(\d+)\.(\d+))`)

// readCommit takes the version from the changelog: that of the first heading, or, under
// "Unreleased", a version before the next minor one.
func readCommit() (commit, error) {
	var c commit
	if changed, err := git("status", "--porcelain"); err != nil || changed != "" {
		return c, errors.Join(err, fmt.Errorf("there are changes that are not committed; what is released is a commit:\n%s", changed))
	}
	text, err := git("show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return c, err
	}
	hash, seconds, _ := strings.Cut(text, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return c, err
	}
	c.hash = hash
	c.time = time.Unix(at, 0).UTC()
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return c, fmt.Errorf("%w; run release at the root of the repository", err)
	}
	c.version, err = versionOf(string(changelog), c.time)
	return c, err
}

func versionOf(changelog string, at time.Time) (string, error) {
	found := heading.FindAllStringSubmatch(changelog, 2)
	if len(found) == 0 {
		return "", errors.New("CHANGELOG.md has no heading with a version")
	}
	if found[0][1] != "Unreleased" {
		return found[0][1], nil
	}
	if len(found) < 2 || found[1][2] == "" {
		return "", errors.New("CHANGELOG.md has no version below Unreleased")
	}
	minor, err := strconv.Atoi(found[1][3])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s.%d.0-dev.%s", found[1][2], minor+1, at.Format("20060102150405")), nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
