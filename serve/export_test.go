package serve

import (
	"time"

	"google.golang.org/protobuf/proto"
)

// Patience is longer than any machine takes that has not hung.
const Patience = 5 * time.Minute

// PauseWith makes a server wait in another way than by sleeping.
func PauseWith(c Config, pause func(time.Duration)) Config {
	c.pause = pause
	return c
}

// Account is what a server counts for a request of some rows of a table.
type Account struct {
	s *Server
	l *loaded
}

// AccountOf returns the account of a server and a model.
func AccountOf(s *Server, model string) Account {
	return Account{s, s.models.byName[model][0].now.Load()}
}

// Only leaves so many bytes of memory to requests.
func (a Account) Only(n int64) { a.s.memory.left.Store(n) }

// Left is what is left of them.
func (a Account) Left() int64 { return a.s.memory.left.Load() }

// Body is what a body of a known length takes as it arrives.
func (a Account) Body(n int64) int64 {
	all := int64(smallBody)
	for size := all; size < n+1; {
		size = min(2*size, n+1)
		all += size
	}
	return all
}

// Rows is what rows take until they are predicted, with texts of so many bytes.
func (a Account) Rows(n int, texts int64) int64 {
	return int64(n)*a.l.rowBytes + a.l.blockBytes(n) + texts
}

// Variances is what the variances of a network's inputs take beside its rows.
func (a Account) Variances(n int) int64 { return int64(n) * a.l.rowBytes }

// Answer is what the answers for rows take as JSON objects.
func (a Account) Answer(n int) int64 { return int64(n) * int64((&options{}).answerSize(a.l)) }

// Outputs is what all outputs for rows take as tensors, and as the JSON of an answer.
func (a Account) Outputs(n int) (tensors, text int64) {
	for _, o := range outputs(a.l, a.l.usual, 0) {
		tensors += o.memory(n)
		t := o.make(n)
		text += 200 + int64(t.textSize(false))
	}
	return tensors, text + 400
}

// What a message takes before it is decoded, and then.
const Window = windowMemory

// Message is the room of the longest message, Decoded what one becomes.
func (a Account) Message() int64 { return a.s.Limits.message() }

// Decoded is what a message becomes.
func Decoded(text []byte, m proto.Message) int64 {
	return decodedSize(text, m.ProtoReflect().Descriptor())
}
