package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/grpc/codes"
)

// A fault is an error that a client sees, with its status.
type fault struct {
	kind
	text string
}

// kind is what went wrong: a status of HTTP and one of gRPC.
type kind struct {
	status int
	code   codes.Code
}

var (
	malformed     = kind{http.StatusBadRequest, codes.InvalidArgument}
	invalid       = kind{http.StatusUnprocessableEntity, codes.InvalidArgument} // well-formed, but not for this model
	unauthorized  = kind{http.StatusUnauthorized, codes.Unauthenticated}
	forbidden     = kind{http.StatusForbidden, codes.PermissionDenied}
	wrongMethod   = kind{http.StatusMethodNotAllowed, codes.Unimplemented}
	notFound      = kind{http.StatusNotFound, codes.NotFound}
	tooLarge      = kind{http.StatusRequestEntityTooLarge, codes.ResourceExhausted}
	unsupported   = kind{http.StatusUnsupportedMediaType, codes.InvalidArgument}
	busy          = kind{http.StatusTooManyRequests, codes.ResourceExhausted}
	closing       = kind{http.StatusServiceUnavailable, codes.Unavailable}
	slow          = kind{http.StatusRequestTimeout, codes.DeadlineExceeded}
	late          = kind{http.StatusGatewayTimeout, codes.DeadlineExceeded}
	gone          = kind{499, codes.Canceled} // the client went away
	unimplemented = kind{http.StatusNotImplemented, codes.Unimplemented}
	internal      = kind{http.StatusInternalServerError, codes.Internal}
)

func (f *fault) Error() string { return f.text }

func failf(k kind, format string, args ...any) error { return &fault{k, fmt.Sprintf(format, args...)} }

// as returns err as a fault of kind k, unless it is a fault already, or an end that faultOf knows.
func as(k kind, err error) error {
	if _, ok := errors.AsType[*fault](err); ok || err == nil {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return &fault{k, err.Error()}
}

// faultOf returns the fault that a client sees.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{late, "the prediction took longer than the server allows; send fewer rows"}
	case errors.Is(err, context.Canceled):
		return &fault{gone, "the client went away"}
	}
	return &fault{internal, err.Error()}
}
