package attack

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"utvi/serve/oip"
)

// plain sends bytes as they are.
type plain struct{}

func (plain) Name() string                       { return "proto" }
func (plain) Marshal(v any) ([]byte, error)      { return v.([]byte), nil }
func (plain) Unmarshal(data []byte, v any) error { return nil }

const (
	inferMethod = oip.GRPCInferenceService_ModelInfer_FullMethodName
	liveMethod  = oip.GRPCInferenceService_ServerLive_FullMethodName
	message     = 4<<20 - 1000
)

// check asks for the health as Kubernetes does.
func (a *arena) check() error {
	_, err := health.NewHealthClient(a.calls).Check(context.Background(), &health.HealthCheckRequest{})
	return err
}

// call sends a message n times at once, each on its own connection.
func (a *arena) call(ctx context.Context, n int, method string, text []byte) {
	together(n, func(int) {
		c := a.dial(from("127.0.0.1"))
		defer c.Close()
		for ctx.Err() == nil {
			c.Invoke(ctx, method, text, &struct{}{}, grpc.ForceCodec(plain{}), grpc.MaxCallRecvMsgSize(1<<30))
		}
	})
}

// streams opens n streams of a method on a few connections, and lets them lie.
func (a *arena) streams(ctx context.Context, n int, method string) {
	const connections = 8
	together(connections, func(int) {
		c := a.dial(from("127.0.0.1"))
		defer c.Close()
		for range n / connections {
			c.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		}
		<-ctx.Done()
	})
}

func idleStreams(ctx context.Context, a *arena) { a.streams(insider(ctx), 128, inferMethod) }

func watchers(ctx context.Context, a *arena) {
	together(8, func(int) {
		c := a.dial(from("127.0.0.1"))
		defer c.Close()
		for range 32 {
			health.NewHealthClient(c).Watch(ctx, &health.HealthCheckRequest{})
		}
		<-ctx.Done()
	})
}

// field is a field of a message that holds bytes.
func field(number protowire.Number, text []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), text)
}

// repeated is a message of one field, again and again.
func repeated(number protowire.Number, text []byte) []byte {
	one := field(number, text)
	return []byte(strings.Repeat(string(one), message/len(one)))
}

// asked is a message with rows that the model can predict, and more behind it.
func asked(rows int, more ...[]byte) []byte {
	r := &oip.ModelInferRequest{ModelName: "strength"}
	for _, name := range []string{"temperature", "temperature_std", "minutes"} {
		values := make([]float64, rows)
		for i := range values {
			values[i] = 1
		}
		r.Inputs = append(r.Inputs, &oip.ModelInferRequest_InferInputTensor{Name: name, Datatype: "FP64", Shape: []int64{int64(rows)}, Contents: &oip.InferTensorContents{Fp64Contents: values}})
	}
	texts := make([][]byte, rows)
	for i := range texts {
		texts[i] = []byte("birch")
	}
	r.Inputs = append(r.Inputs, &oip.ModelInferRequest_InferInputTensor{Name: "resin", Datatype: "BYTES", Shape: []int64{int64(rows)}, Contents: &oip.InferTensorContents{BytesContents: texts}})
	out, err := proto.Marshal(r)
	if err != nil {
		panic(err)
	}
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

// grpcAttacks are messages and streams of gRPC.
func grpcAttacks() []attack {
	const strangers, known = false, true
	many := func(name string, token bool, n int, method string, text func() []byte) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			if token {
				ctx = insider(ctx)
			}
			a.call(ctx, n, method, text())
		}}
	}
	mean := field(6, field(1, []byte("mean")))
	return []attack{
		{"streams that are idle", idleStreams},
		{"streams of strangers", func(ctx context.Context, a *arena) { a.streams(ctx, 512, inferMethod) }},
		{"watchers of health", watchers},
		{"checks without a message", func(ctx context.Context, a *arena) { a.streams(ctx, 512, "/grpc.health.v1.Health/Check") }},
		{"watchers without a message", func(ctx context.Context, a *arena) { a.streams(ctx, 512, "/grpc.health.v1.Health/Watch") }},
		{"reflection that is idle", func(ctx context.Context, a *arena) {
			a.streams(insider(ctx), 256, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
		}},
		{"methods that there are not", func(ctx context.Context, a *arena) { a.call(insider(ctx), 16, "/no.Such/Method", nil) }},
		many("empty inputs of strangers", strangers, 16, inferMethod, func() []byte { return repeated(5, nil) }),
		many("empty inputs", known, 16, inferMethod, func() []byte { return repeated(5, nil) }),
		many("empty outputs", known, 16, inferMethod, func() []byte { return repeated(6, nil) }),
		many("empty raw contents", known, 16, inferMethod, func() []byte { return repeated(7, nil) }),
		many("parameters by the hundred thousand", known, 16, inferMethod, func() []byte { return repeated(4, nil) }),
		many("inputs of empty texts", known, 16, inferMethod, func() []byte {
			return field(5, field(5, []byte(strings.Repeat(string(field(8, nil)), message/2))))
		}),
		many("inputs of small numbers", known, 16, inferMethod, func() []byte { return field(5, field(5, field(3, make([]byte, message)))) }),
		many("a shape of small numbers", known, 16, inferMethod, func() []byte { return field(5, field(3, make([]byte, message))) }),
		many("numbers one by one", known, 16, inferMethod, func() []byte {
			return field(5, field(5, []byte(strings.Repeat("\x18\x01", message/2-100))))
		}),
		many("unknown fields in messages", known, 16, inferMethod, func() []byte { return repeated(99, nil) }),
		many("outputs again and again", known, 8, inferMethod, func() []byte {
			return asked(10_000, []byte(strings.Repeat(string(mean), 100_000)))
		}),
		many("long answers", known, 8, inferMethod, func() []byte {
			levels := field(4, append(field(1, []byte("quantiles")), field(2, field(3, []byte(strings.Repeat("0.5,", 300)+"0.5")))...))
			return asked(10_000, levels)
		}),
		many("long messages to open methods", strangers, 32, liveMethod, func() []byte { return repeated(99, nil) }),
		many("long names of services", strangers, 32, "/grpc.health.v1.Health/Check", func() []byte { return field(1, make([]byte, message)) }),
		many("messages that are none", known, 16, inferMethod, func() []byte { return []byte(strings.Repeat("\xff", message)) }),
		{"metadata of fifteen megabytes", func(ctx context.Context, a *arena) {
			heavy := metadata.AppendToOutgoingContext(ctx, "x", strings.Repeat("a", 15<<20))
			a.call(heavy, 8, inferMethod, nil)
		}},
	}
}
