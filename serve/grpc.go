package serve

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	health_v1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"utvi/serve/oip"
)

// maxMessage is the most bytes of a message of gRPC, whose memory is taken before its
// request can be looked at.
const maxMessage = 4 << 20

// streams is how many requests of gRPC may be in progress, so that their messages stay
// within the memory of requests.
func (l Limits) streams() int { return int(min(int64(l.Requests), max(1, l.Memory/l.message()))) }

func (l Limits) message() int64 { return min(l.Body, maxMessage) }

// GRPC returns a server of gRPC: the Open Inference Protocol, health checks and
// reflection. secure may be nil.
func (s *Server) GRPC(secure credentials.TransportCredentials) *grpc.Server {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(int(s.Limits.message())), grpc.MaxSendMsgSize(math.MaxInt32), grpc.MaxConcurrentStreams(uint32(s.Limits.streams())),
		grpc.ConnectionTimeout(s.Limits.Time), grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.InTapHandle(s.tap), grpc.UnaryInterceptor(s.intercept), grpc.StreamInterceptor(s.interceptStream),
	}
	if secure != nil {
		options = append(options, grpc.Creds(secure))
	}
	g := grpc.NewServer(options...)
	oip.RegisterGRPCInferenceServiceServer(g, &service{s: s})
	health_v1.RegisterHealthServer(g, s.health)
	reflection.Register(g)
	return g
}

// tap refuses requests before their messages are read, if too many are in progress.
func (s *Server) tap(ctx context.Context, _ *tap.Info) (context.Context, error) {
	if s.streams.Add(1) > int64(s.Limits.streams()) {
		s.streams.Add(-1)
		s.refused.Add(1)
		return ctx, status.Errorf(codes.ResourceExhausted, "the server is busy with %d requests, which is the most that it allows; try again soon", s.Limits.streams())
	}
	context.AfterFunc(ctx, func() { s.streams.Add(-1) })
	return ctx, nil
}

// allow checks the token of a request.
func (s *Server) allow(ctx context.Context, method string) error {
	if s.Token == "" || strings.HasPrefix(method, "/grpc.health.v1.Health/") || strings.HasSuffix(method, "/ServerLive") || strings.HasSuffix(method, "/ServerReady") {
		return nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	for _, v := range md.Get("authorization") {
		if scheme, token, _ := strings.Cut(v, " "); strings.EqualFold(scheme, "Bearer") && s.right(token) {
			return nil
		}
	}
	return status.Error(codes.Unauthenticated, "a token is needed: send the metadata authorization: Bearer TOKEN")
}

// intercept checks who calls, keeps panics from ending the server, and logs.
func (s *Server) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (answer any, err error) {
	if err := s.allow(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	begin := time.Now()
	id := ""
	if md, ok := metadata.FromIncomingContext(ctx); ok && len(md.Get("x-request-id")) > 0 && len(md.Get("x-request-id")[0]) <= 128 {
		id = md.Get("x-request-id")[0]
	}
	if id == "" {
		id = s.newID()
	}
	grpc.SetHeader(ctx, metadata.Pairs("x-request-id", id))
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("internal error", "id", id, "error", p, "stack", string(debug.Stack()))
			answer, err = nil, status.Error(codes.Internal, "internal error")
		}
		if s.LogRequests {
			s.Log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("id", id), slog.String("method", info.FullMethod),
				slog.String("code", status.Code(err).String()), slog.Duration("took", time.Since(begin)))
		}
	}()
	return handle(ctx, request)
}

func (s *Server) interceptStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := s.allow(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handle(srv, stream)
}

// service implements the protocol.
type service struct {
	oip.UnimplementedGRPCInferenceServiceServer
	s *Server
}

func (g *service) ServerLive(context.Context, *oip.ServerLiveRequest) (*oip.ServerLiveResponse, error) {
	return &oip.ServerLiveResponse{Live: true}, nil
}

func (g *service) ServerReady(context.Context, *oip.ServerReadyRequest) (*oip.ServerReadyResponse, error) {
	return &oip.ServerReadyResponse{Ready: !g.s.ending.Load()}, nil
}

func (g *service) ModelReady(_ context.Context, r *oip.ModelReadyRequest) (*oip.ModelReadyResponse, error) {
	_, err := g.s.models.find(r.Name, r.Version)
	return &oip.ModelReadyResponse{Ready: err == nil}, statusOf(err)
}

func (g *service) ServerMetadata(context.Context, *oip.ServerMetadataRequest) (*oip.ServerMetadataResponse, error) {
	return &oip.ServerMetadataResponse{Name: "utvi", Version: version(), Extensions: extensions}, nil
}

func (g *service) ModelMetadata(_ context.Context, r *oip.ModelMetadataRequest) (*oip.ModelMetadataResponse, error) {
	m, err := g.s.models.find(r.Name, r.Version)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &oip.ModelMetadataResponse{Name: m.Name, Versions: g.s.models.versions(m.Name), Platform: platform}
	in, outs := signatures(m.now.Load())
	for _, t := range in {
		out.Inputs = append(out.Inputs, &oip.ModelMetadataResponse_TensorMetadata{Name: t.Name, Datatype: t.Datatype, Shape: t.Shape})
	}
	for _, t := range outs {
		out.Outputs = append(out.Outputs, &oip.ModelMetadataResponse_TensorMetadata{Name: t.Name, Datatype: t.Datatype, Shape: t.Shape})
	}
	return out, nil
}

// statusOf is an error as gRPC reports it.
func statusOf(err error) error {
	if err == nil {
		return nil
	}
	f := faultOf(err)
	return status.Error(f.code, f.text)
}

// value is a parameter as JSON would have it.
func value(p *oip.InferParameter) any {
	switch v := p.GetParameterChoice().(type) {
	case *oip.InferParameter_BoolParam:
		return v.BoolParam
	case *oip.InferParameter_Int64Param:
		return float64(v.Int64Param)
	case *oip.InferParameter_Uint64Param:
		return float64(v.Uint64Param)
	case *oip.InferParameter_DoubleParam:
		return v.DoubleParam
	case *oip.InferParameter_StringParam:
		return v.StringParam
	}
	return fmt.Sprint(nil)
}
