// Package serve answers predictions over HTTP and gRPC: the Open Inference Protocol v2,
// which clients of KServe, Triton and MLServer speak, and a small JSON interface for
// people and for the page at /.
//
//	s, err := serve.New(serve.Config{Models: []serve.Source{{Name: "price", Path: "price.utvi"}}})
//	err = s.Run(ctx, serve.Listen{HTTP: "127.0.0.1:8080", GRPC: "127.0.0.1:8081"})
//
// Requests of several clients share the work of the networks, and every answer has the
// bits that package predict computes for the same rows. Models are read again when their
// files change. No request makes the server read a file.
//
// # What a request may take
//
// Every byte that a request makes the server allocate is taken from an account before
// (account.go): connections from a quarter of Limits.Memory that is set aside for them,
// everything else from the rest, each client at most its share. Resident memory stays below
// Limits.Memory, the models and Overhead. The parts: listener.go and connections.go count
// connections, ticket.go lets streams of gRPC in by their headers, grpc_call.go reads their
// messages after wire.go has counted what they become, codec.go counts answers until the
// network has taken them, frames.go ends connections whose frames cost more than they carry,
// scan.go and v2_read.go read JSON without building it. Package serve/attack attacks a
// running server and reads its memory.
package serve
