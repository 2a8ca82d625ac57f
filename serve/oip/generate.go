// Package oip holds the messages of the Open Inference Protocol v2. oip.proto is the
// source; the Go files are generated from it and committed, with its hash below.
package oip

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative oip.proto

// source is the SHA-256 of the oip.proto that the Go files were generated from, by
// protoc-gen-go v1.36.12 and protoc-gen-go-grpc v1.6.2.
const source = "1e0df3503145992be7dedec93a0c66b7be35398b8fb6f6b59040d8aecc8d3736"
