// Package oip holds the messages of the Open Inference Protocol v2. oip.proto is the
// source; the Go files are generated from it and committed, with its hash below.
package oip

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative oip.proto

// source is the SHA-256 of the oip.proto that the Go files were generated from, by
// protoc-gen-go v1.36.12 and protoc-gen-go-grpc v1.6.2.
const source = "49e4c7372f7791749cc37cbee5d360f99a51cff0b396a8d3a93596c75b262fe3"
