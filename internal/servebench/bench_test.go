package servebench

import (
	"context"
	"os"
	"testing"
	"time"

	"utvi/serve"
)

// program is set in the process that Overload starts: this test program, which then
// serves.
const program = "UTVI_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(program) == "" {
		os.Exit(m.Run())
	}
	s, err := serve.New(serve.Config{Models: []serve.Source{{Name: "strength", Path: os.Args[2]}}, Limits: serve.Limits{Requests: overloaded / 8, Share: 1}})
	if err == nil {
		err = s.Run(context.Background(), serve.Listen{HTTP: "127.0.0.1:0"})
	}
	if err != nil {
		panic(err)
	}
}

// A short run measures everything, and no answer is wrong.
func TestRun(t *testing.T) {
	r, err := Run(t.Context(), Options{Windows: 1, Window: 150 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Wrong != 0 || !(r.Echo > 0 && r.Single > 0 && r.Share > 0 && r.SingleP99 > 0 && r.P99Ratio > 0 && r.BatchRows > 0 && r.BatchShare > 0) || r.Members != 5 {
		t.Errorf("%+v", r)
	}
}

// Under twice the load that fits, no answer is wrong, memory stays flat, and the server
// recovers; how soon is for the benchmark to say, since this machine may do much else.
func TestOverload(t *testing.T) {
	if os.Getenv("UTVI_TEST_EXEC") != "" {
		t.Skip("an emulated server is too slow for a load")
	}
	t.Setenv(program, "1")
	s, err := Overload(t.Context(), os.Args[0], 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", s)
	if s.Wrong != 0 || s.Answered == 0 || s.Refused == 0 {
		t.Errorf("%d answered, %d refused, %d wrong: %s", s.Answered, s.Refused, s.Wrong, s.Example)
	}
	if s.Late > 1.5*s.Early+20 {
		t.Errorf("memory grew from %.0f to %.0f MB", s.Early, s.Late)
	}
	if s.Recovery > 30 {
		t.Errorf("the server needed %.2f s to recover", s.Recovery)
	}
}
