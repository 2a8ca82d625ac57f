package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/inputfile"
	"utvi/internal/memory"
	"utvi/internal/modelfile"
	"utvi/model"
	"utvi/serve"
)

const serveHelp = `Answer predictions over HTTP and gRPC. A MODEL is a file that utvi fit or net.Save wrote:
PATH, NAME=PATH or NAME@VERSION=PATH. Without a name, the file's name is used; without
a version, 1. Requests that name no version get the newest one.

  /                                  a page to play with the models
  POST /predict/NAME                 rows as JSON objects: mean, std, interval, quantiles,
                                     components of the variance, ood, abstention
  GET  /models                       the models with their columns
  /v2, gRPC                          the Open Inference Protocol v2, which clients of
                                     KServe, Triton and MLServer speak
  GET  /metrics, /openapi.json       for Prometheus; what there is to ask for

A model is loaded again when its file is replaced; requests in progress finish with the
model that they began with. If the new file is damaged, the old model stays, and the log
says why. On SIGTERM the server finishes the requests in progress. The server
answers this machine only, unless --http and --grpc say otherwise; then set a token, and
TLS unless a proxy does that. The token is read from --token-file or from UTVI_TOKEN.`

const serveExamples = `  utvi serve price.utvi
  curl -d '{"rows": [{"size": 82.5, "town": "Graz"}]}' localhost:8080/predict/price
  utvi serve price@1=old.utvi price@2=new.utvi digits=net.safetensors
  utvi serve price.utvi --http :8443 --grpc :8444 --token-file token --tls-cert c.pem --tls-key k.pem`

// serveOptions are what the flags of serve ask for.
type serveOptions struct {
	config    serve.Config
	at        serve.Listen
	tokenFile string
	cert      string
	key       string
	log       string // format
	reload    time.Duration
	input     bool // end when standard input does
}

func serveCommand() *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:     "serve MODEL…",
		Short:   "Answer predictions over HTTP and gRPC, with a page to play with",
		Long:    serveHelp,
		Example: serveExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s needs at least one model file", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			return o.run(cmd)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *serveOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.at.HTTP, "http", "127.0.0.1:8080", "address to answer HTTP at; none: not at all")
	f.StringVar(&o.at.GRPC, "grpc", "127.0.0.1:8081", "address to answer gRPC at; none: not at all")
	f.StringVar(&o.tokenFile, "token-file", "", "file that holds the token that clients must send")
	f.StringVar(&o.cert, "tls-cert", "", "file of the server's certificate, in PEM")
	f.StringVar(&o.key, "tls-key", "", "file of the certificate's key, in PEM")
	f.DurationVar(&o.reload, "reload", time.Second, "how often to look whether model files changed; 0: never")
	f.DurationVar(&o.at.Drain, "drain", 0, "how long to answer after SIGTERM before no more connections are accepted")
	f.IntVar(&o.config.Limits.Rows, "max-rows", 10_000, "most rows of a request")
	f.Int64Var(&o.config.Limits.Body, "max-body", 16<<20, "most bytes of a request")
	f.Int64Var(&o.config.Limits.Memory, "max-memory", 256<<20, "most bytes that connections and requests in progress may take")
	f.IntVar(&o.config.Limits.Requests, "max-requests", 256, "most requests in progress; others get the answer to try again later")
	f.IntVar(&o.config.Limits.Connections, "max-connections", 256, "most connections; a quarter of --max-memory is set aside for them, 256 KiB each")
	f.Float64Var(&o.config.Limits.Share, "client-share", 0.5, "largest share of connections, requests and memory that one client address may hold; 1 behind a proxy")
	f.DurationVar(&o.config.Limits.Time, "max-time", 30*time.Second, "longest time of a request")
	f.StringVar(&o.log, "log", "text", "format of the log on standard error: <text> or <json>")
	f.BoolVar(&o.input, "until-stdin-ends", false, "end when standard input ends: the server of a program never outlives it")
	f.BoolVar(&o.config.LogRequests, "log-requests", false, "log every request")
}

func (o *serveOptions) run(cmd *cobra.Command) error {
	o.config.Options = []model.Option{paperMaps()}
	s, err := serve.New(o.config)
	if err != nil {
		return err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		s.LimitHeap()
	}
	if room := memory.Ceiling(); float64(o.config.Limits.Memory+serve.Overhead) > room {
		o.config.Log.Warn("requests may take more memory than a control group or ulimit -v leaves; give a lower --max-memory", "max-memory", o.config.Limits.Memory, "beside", serve.Overhead, "leaves", int64(room))
	}
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	if o.input {
		go func() {
			defer end()
			_, _ = io.Copy(io.Discard, cmd.InOrStdin()) // an input that fails has ended, too
		}()
	}
	err = s.Run(ctx, o.at)
	if e, ok := errors.AsType[*serve.ListenError](err); ok {
		return fmt.Errorf("%w; choose another address with --%s", err, strings.ToLower(e.Protocol))
	}
	return err
}

// check refuses flags out of range, and reads what they name.
func (o *serveOptions) check(cmd *cobra.Command, args []string) error {
	for _, address := range []*string{&o.at.HTTP, &o.at.GRPC} {
		if *address == "none" {
			*address = ""
		}
	}
	if err := o.checkLimits(); err != nil {
		return err
	}
	if err := o.models(args); err != nil {
		return err
	}
	o.config.Reload = o.reload
	if o.reload <= 0 {
		o.config.Reload = -1
	}
	switch o.log {
	case "text":
		o.config.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	case "json":
		o.config.Log = slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
	default:
		return usagef("--log is %q; choose text or json", o.log)
	}
	if err := o.token(); err != nil {
		return err
	}
	return o.certificate()
}

func (o *serveOptions) checkLimits() error {
	l := o.config.Limits
	for _, x := range []struct {
		name  string
		value int64
	}{
		{"max-rows", int64(l.Rows)},
		{"max-body", l.Body},
		{"max-memory", l.Memory},
		{"max-requests", int64(l.Requests)},
		{"max-connections", int64(l.Connections)},
		{"max-time", int64(l.Time)},
	} {
		if x.value <= 0 {
			return usagef("--%s must be above 0", x.name)
		}
	}
	if !(l.Share > 0 && l.Share <= 1) {
		return usagef("--client-share is %g; it must be above 0 and at most 1", l.Share)
	}
	return nil
}

// models are what the arguments name.
func (o *serveOptions) models(args []string) error {
	for _, a := range args {
		m, err := serve.ParseSource(a)
		if err != nil {
			return misuse(err)
		}
		if err := modelfile.Check(m.Path); err != nil {
			return err
		}
		o.config.Models = append(o.config.Models, m)
	}
	return nil
}

// token reads the token from its file, or else from the environment.
func (o *serveOptions) token() error {
	o.config.Token = os.Getenv("UTVI_TOKEN")
	if o.tokenFile == "" {
		return nil
	}
	text, err := inputfile.Read(o.tokenFile, 10)
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	o.config.Token = string(bytes.TrimSpace(text))
	if o.config.Token == "" {
		return usagef("--token-file: %s is empty", o.tokenFile)
	}
	return nil
}

// certificate reads the certificate and its key, if there are any.
func (o *serveOptions) certificate() error {
	if (o.cert == "") != (o.key == "") {
		return usagef("--tls-cert and --tls-key belong together; name both files")
	}
	if o.cert == "" {
		return nil
	}
	const needs = 10 // bytes of memory for one of a file, about
	cert, err := inputfile.Read(o.cert, needs)
	if err != nil {
		return fmt.Errorf("--tls-cert: %w", err)
	}
	key, err := inputfile.Read(o.key, needs)
	if err != nil {
		return fmt.Errorf("--tls-key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("the certificate %s cannot be used: %w", o.cert, err)
	}
	o.at.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return nil
}
