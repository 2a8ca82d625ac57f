package serve

import (
	"context"
	"errors"
	"io"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// streamed is a service whose methods are all streams on this side, which clients cannot
// tell: a stream lets its handler decide when the message is read, and so take the memory
// for it first.
func (s *Server) streamed(d grpc.ServiceDesc) *grpc.ServiceDesc {
	var all []grpc.StreamDesc
	for _, m := range d.Methods {
		all = append(all, grpc.StreamDesc{StreamName: m.MethodName, ServerStreams: true, ClientStreams: true, Handler: s.unary(m)})
	}
	for _, m := range d.Streams {
		inner := m.Handler
		m.Handler = func(service any, stream grpc.ServerStream) error {
			return s.guarded(stream, func(t *ticket) error { return inner(service, &counting{stream, t}) })
		}
		all = append(all, m)
	}
	d.Methods = nil
	d.Streams = all
	return &d
}

// unary answers one message with one.
func (s *Server) unary(m grpc.MethodDesc) grpc.StreamHandler {
	return func(service any, stream grpc.ServerStream) error {
		return s.guarded(stream, func(t *ticket) error {
			out, err := m.Handler(service, stream.Context(), func(v any) error { return t.receive(stream, v.(proto.Message)) }, s.intercept)
			if err != nil {
				return err
			}
			return t.send(stream, out.(proto.Message))
		})
	}
}

// guarded runs a handler with the ticket of its stream, and keeps panics from ending the
// server.
func (s *Server) guarded(stream grpc.ServerStream, f func(t *ticket) error) (err error) {
	t := ticketOf(stream.Context())
	if t == nil {
		return status.Error(codes.Unimplemented, "the server must be run by Run or by Serve, which know who calls")
	}
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("internal error", "error", p, "stack", string(debug.Stack()))
			err = status.Error(codes.Internal, "internal error")
		}
	}()
	return t.handle(stream.Context(), func() error { return f(t) })
}

// counting is a stream that counts what it reads.
type counting struct {
	grpc.ServerStream
	t *ticket
}

// RecvMsg implements grpc.ServerStream.
func (c *counting) RecvMsg(v any) error { return c.t.receive(c.ServerStream, v.(proto.Message)) }

// receive reads a message. Before that it takes the memory of the longest one, since
// nobody knows how long this one will be; before it is decoded, the memory of what it
// becomes.
func (t *ticket) receive(stream grpc.ServerStream, v proto.Message) error {
	if t.open && v.ProtoReflect().Descriptor().Fields().Len() == 0 {
		return nil // there is nothing to read
	}
	in, err := t.await(stream)
	if err != nil {
		return err
	}
	defer in.data.Free()
	size, most := in.data.Len(), int(t.s.Limits.message())
	if _, rows := v.(interface{ GetRawInputContents() [][]byte }); !rows {
		most = min(most, mostQuestion)
	}
	if size > most {
		return status.Errorf(codes.ResourceExhausted, "the message has %d bytes; the server allows %d", size, most)
	}
	if !t.open {
		err := t.lease.take(int64(size))
		if err != nil {
			return statusOf(err)
		}
	}
	whole := in.data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	if !t.open {
		err := t.lease.take(decodedSize(whole.ReadOnlyData(), v.ProtoReflect().Descriptor()))
		if err != nil {
			return statusOf(err)
		}
	}
	if err := proto.Unmarshal(whole.ReadOnlyData(), v); err != nil {
		return status.Errorf(codes.InvalidArgument, "the message is not a %s", v.ProtoReflect().Descriptor().Name())
	}
	return nil
}

// mostQuestion is the most bytes of a message that has no rows.
const mostQuestion = 16 << 10

// await waits for a message.
func (t *ticket) await(stream grpc.ServerStream) (*incoming, error) {
	ctx := stream.Context()
	t.reading.Store(true)
	defer t.reading.Store(false)
	if t.open {
		err := t.s.streams.read(ctx, t)
		if err != nil {
			return nil, statusOf(err)
		}
		defer t.s.streams.endRead(t)
	} else {
		room := t.s.Limits.message()
		err := t.lease.takeSoon(ctx, room)
		if err != nil {
			return nil, t.refuse(ctx, err)
		}
		defer t.lease.give(room)
	}
	in := &incoming{}
	err := stream.RecvMsg(in)
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	return in, err
}

// send sends an answer, and counts its bytes until the network has taken them.
func (t *ticket) send(stream grpc.ServerStream, v proto.Message) error {
	size := max(proto.Size(v), pooled)
	p, err := t.park(size)
	if err != nil {
		return t.refuse(stream.Context(), err)
	}
	text, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(make([]byte, 0, size), v)
	if err != nil {
		p.Put(nil)
		return err
	}
	return stream.SendMsg(&outgoing{text, p})
}

// refuse reports an error of the account.
func (t *ticket) refuse(ctx context.Context, err error) error {
	if faultOf(err).kind == busy {
		t.s.refused.Add(1)
		tryLater(ctx)
	}
	return statusOf(err)
}
