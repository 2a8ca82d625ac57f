package serve

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	health_v1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"utvi/serve/oip"
)

// maxMessage is the most bytes of a message of gRPC, whose memory is taken before its
// request can be looked at.
const maxMessage = 4 << 20

// message is the most bytes of a message: several of one client fit into its share.
func (l Limits) message() int64 { return min(l.Body, maxMessage, l.share(l.requestMemory())/2) }

// What a stream may take before its message is read.
const (
	mostHeader   = 8 << 10    // bytes of metadata, each field with 32 more
	window       = 64 << 10   // bytes that the transport keeps for a stream
	windowMemory = 2 * window // and the header
	mostStreams  = 64         // of a connection
)

// GRPC returns a server of gRPC: the Open Inference Protocol, health checks and
// reflection. secure may be nil.
func (s *Server) GRPC(secure credentials.TransportCredentials) *grpc.Server {
	g := grpc.NewServer(
		grpc.Creds(newCredentials(secure, &s.clients)), grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(int(s.Limits.message())), grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.MaxHeaderListSize(mostHeader), grpc.MaxConcurrentStreams(mostStreams),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(1<<20),
		grpc.ConnectionTimeout(min(s.Limits.Time, greeting)),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: 5 * time.Minute, Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.InTapHandle(s.tap), grpc.UnknownServiceHandler(s.unknown),
	)
	to := registrar{g, s}
	oip.RegisterGRPCInferenceServiceServer(to, &service{s: s})
	health_v1.RegisterHealthServer(to, s.health)
	reflection.Register(to)
	return g
}

// greeting is how long a connection may take until its first request.
const greeting = 10 * time.Second

// registrar registers services whose streams have tickets.
type registrar struct {
	*grpc.Server
	s *Server
}

func (r registrar) RegisterService(d *grpc.ServiceDesc, implementation any) {
	r.Server.RegisterService(r.s.streamed(*d), implementation)
}

// unknown answers calls of methods that there are not.
func (s *Server) unknown(_ any, stream grpc.ServerStream) error {
	return s.guarded(stream, func(*ticket) error {
		method, _ := grpc.MethodFromServerStream(stream)
		return status.Errorf(codes.Unimplemented, "the server has no method %.100q; it has those of the Open Inference Protocol, model statistics, configuration and the index of models", method)
	})
}

// intercept logs a call.
func (s *Server) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	begin := time.Now()
	id := ""
	if md, ok := metadata.FromIncomingContext(ctx); ok && len(first(md, "x-request-id")) <= 128 {
		id = first(md, "x-request-id")
	}
	if id == "" {
		id = s.newID()
	}
	grpc.SetHeader(ctx, metadata.Pairs("x-request-id", id))
	answer, err := handle(ctx, request)
	if s.LogRequests {
		s.Log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("id", id), slog.String("method", info.FullMethod),
			slog.String("code", status.Code(err).String()), slog.Duration("took", time.Since(begin)))
	}
	return answer, err
}

// tryLater tells clients that retry by themselves when to do so.
func tryLater(ctx context.Context) {
	grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "1000"))
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
