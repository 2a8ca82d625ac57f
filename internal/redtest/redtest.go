// Package redtest runs checks that should fail: it is how conformance suites are
// tested.
package redtest

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test that keeps its failures for itself.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(f string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(f, args...))
}
func (r *recorder) Error(args ...any)            { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatalf(f string, args ...any) { r.Errorf(f, args...); runtime.Goexit() }
func (r *recorder) Fatal(args ...any)            { r.Error(args...); runtime.Goexit() }

// Run runs a check and returns the messages of its failures, a panic among them.
// The check must not fail in ways other than Error, Errorf, Fatal and Fatalf.
func Run(t testing.TB, check func(t testing.TB)) []string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // Fatal ends a goroutine
		defer close(done)
		defer func() {
			if e := recover(); e != nil {
				r.Errorf("panic: %v", e)
			}
		}()
		check(r)
	}()
	<-done
	return r.failed
}
