package attack

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/net/http2"
)

// crowd opens idle connections from several addresses of this machine, each with as many as
// it may have.
func crowd(ctx context.Context, a *arena, address, greeting string) {
	addresses := []string{"127.0.0.3", "127.0.0.4", "127.0.0.5"}
	together(len(addresses)*140, func(i int) {
		c, err := from(addresses[i%len(addresses)])(ctx, "tcp", address)
		if err != nil {
			return
		}
		defer c.Close()
		if end, ok := ctx.Deadline(); ok {
			c.SetDeadline(end)
		}
		io.WriteString(c, greeting)
		if greeting != "" {
			http2.NewFramer(c, c).WriteSettings()
		}
		hold(c)
	})
}

// fileAttacks replace the file of the model, and hold connections from several addresses.
func fileAttacks() []attack {
	over := func(name string, put func(path string) error) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			a.file.Lock()
			defer a.file.Unlock()
			path := filepath.Join(a.folder, "strength.utvi")
			kept := path + ".kept"
			if err := os.Rename(path, kept); err != nil {
				a.t.Error(err)
				return
			}
			if err := put(path); err != nil {
				a.t.Error(err)
			}
			time.Sleep(2 * attackTime) // the server looks once a second
			if err := os.Rename(kept, path); err != nil {
				a.t.Error(err)
			}
		}}
	}
	return []attack{
		over("a model of twenty gigabytes", func(path string) error {
			if err := os.WriteFile(path, []byte("\x40\x00\x00\x00\x00\x00\x00\x00{"), 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 20<<30)
		}),
		over("a model that is a pipe", func(path string) error { return exec.Command("mkfifo", path).Run() }),
		{"idle connections of three clients", func(ctx context.Context, a *arena) { crowd(ctx, a, a.http, "") }},
		{"idle connections of three clients of gRPC", func(ctx context.Context, a *arena) { crowd(ctx, a, a.grpc, http2.ClientPreface) }},
	}
}
