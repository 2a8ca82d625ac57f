package attack

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// certify writes a certificate and its key, and returns what clients know of them.
func certify(t testing.TB, folder string) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return &tls.Config{RootCAs: pool, ServerName: "localhost"}
}

// secureAttacks are handshakes, and frames of HTTP/2 to the port of HTTP, which has it with
// TLS only.
func secureAttacks() []attack {
	auth := []string{"authorization", "Bearer " + token}
	raw := func(name string, n int, read bool, f func(ctx context.Context, w *wire)) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			a.wiresTo(ctx, a.http, n, read, nil, func(w *wire) { f(ctx, w) })
		}}
	}
	flood := func(name string, read bool, send func(w *wire) error) attack {
		return raw(name, 8, read, func(ctx context.Context, w *wire) {
			for range 50_000 {
				if ctx.Err() != nil || send(w) != nil {
					return
				}
			}
		})
	}
	return append([]attack{
		flood("settings by the thousand", false, func(w *wire) error { return w.WriteSettings() }),
		flood("pings by the thousand", false, func(w *wire) error { return w.WritePing(false, [8]byte{}) }),
		flood("windows by the thousand", true, func(w *wire) error { return w.WriteWindowUpdate(0, 1) }),
		flood("unknown frames", true, func(w *wire) error { return w.WriteRawFrame(77, 0, 0, nil) }),
		flood("requests that are reset at once", true, func(w *wire) error {
			w.begin(predictPath, false, auth...)
			return w.WriteRSTStream(w.stream-2, http2.ErrCodeCancel)
		}),
		flood("requests of strangers, answers unread", false, func(w *wire) error { return w.begin(predictPath, false) }),
		flood("documents that nobody reads", false, func(w *wire) error { return w.begin("/openapi.json", true) }),
		raw("headers that go on for ever", 8, true, func(ctx context.Context, w *wire) {
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: w.header(predictPath), EndHeaders: false})
			more := bytes.Clone(w.header(predictPath, "x", strings.Repeat("y", 10_000)))
			for ctx.Err() == nil {
				if w.WriteContinuation(1, false, more) != nil {
					return
				}
			}
		}),
		raw("headers that name one field often", 16, true, func(ctx context.Context, w *wire) {
			w.begin(predictPath, false, "x", strings.Repeat("y", 3000))
			block := bytes.Clone(w.header(predictPath))
			block = append(block, bytes.Repeat([]byte{0x80 | 62}, 10_000)...) // the newest field of the table
			for range 200 {
				if ctx.Err() != nil || w.WriteHeaders(http2.HeadersFrameParam{StreamID: w.stream, BlockFragment: block, EndHeaders: true}) != nil {
					return
				}
				w.stream += 2
			}
		}),
		raw("headers of many requests", 60, true, func(ctx context.Context, w *wire) {
			for range 64 {
				if w.begin(predictPath, false, append(auth, "x", strings.Repeat("y", 7000))...) != nil {
					return
				}
			}
			linger(ctx)
		}),
		raw("bodies that stop at the end", 60, true, func(ctx context.Context, w *wire) {
			for range 16 {
				w.begin(predictPath, false, auth...)
				w.WriteData(w.stream-2, false, bytes.Repeat([]byte(" "), 16_000))
			}
			linger(ctx)
		}),
		raw("data in crumbs", 16, true, func(ctx context.Context, w *wire) {
			w.begin(predictPath, false, auth...)
			for ctx.Err() == nil {
				if w.WriteData(1, false, []byte(" ")) != nil {
					return
				}
			}
		}),
		{"long answers whose windows are closed", func(ctx context.Context, a *arena) {
			body := `{` + tableRows(300) + `,"density":1000}`
			a.wiresTo(ctx, a.http, 8, true, []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}}, func(w *wire) {
				for range 16 {
					w.begin(predictPath, false, auth...)
					for rest := body; rest != ""; {
						n := min(len(rest), 16_000)
						if w.WriteData(w.stream-2, n == len(rest), []byte(rest[:n])) != nil {
							return
						}
						rest = rest[n:]
					}
				}
				linger(ctx)
			})
		}},
	}, handshakes()...)
}

// handshakes are those that come to nothing.
func handshakes() []attack {
	raw := func(name string, n int, f func(ctx context.Context, c net.Conn)) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			together(n, func(i int) {
				address := []string{a.http, a.grpc}[i%2]
				c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
				if err != nil {
					return
				}
				defer c.Close()
				if end, ok := ctx.Deadline(); ok {
					c.SetDeadline(end)
				}
				f(ctx, c)
			})
		}}
	}
	return []attack{
		raw("handshakes that do not begin", 300, func(_ context.Context, c net.Conn) { hold(c) }),
		raw("handshakes that stop within a record", 300, func(_ context.Context, c net.Conn) {
			c.Write([]byte{22, 3, 1, 64, 0, 1, 0, 63, 252, 3, 3})
			c.Write(make([]byte, 16_000))
			hold(c)
		}),
		raw("requests without TLS", 200, func(_ context.Context, c net.Conn) {
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
			hold(c)
		}),
	}
}
