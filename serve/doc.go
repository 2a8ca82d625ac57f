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
package serve
