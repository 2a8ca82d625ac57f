package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"utvi/internal/atomicfile"
	"utvi/internal/inputfile"
	"utvi/internal/strictjson"
)

// A failure is the note of a failed trial. A later result replaces it.
type failure struct {
	Format int       `json:"format"`
	Trial  string    `json:"trial"` // its ID
	Error  string    `json:"error"`
	Stack  string    `json:"stack,omitempty"` // of a panic
	Run    RunRecord `json:"run"`
}

// failurePath is the file of a failed trial's note.
func failurePath(dir string, t Trial) string { return stem(dir, t) + ".failed.json" }

// loadFailure reads the note of a failed trial. It returns nil if there is no note.
func loadFailure(dir string, t Trial) (*failure, error) {
	path := failurePath(dir, t)
	b, err := inputfile.Read(path, 10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &failure{}
	if err := strictjson.Unmarshal(b, f); err != nil || f.Format != planFormat || f.Trial != t.ID() {
		return nil, fmt.Errorf("%s is damaged or is not a note of %s", path, t.ID())
	}
	return f, nil
}

// save ignores errors: the failure itself matters more than its note.
func (f *failure) save(dir string, t Trial) {
	atomicfile.Write(failurePath(dir, t), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(f)
	})
}

// A panicked error is a panic in a kind. It must not end the other trials.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) Error() string { return fmt.Sprintf("internal error: %v", p.value) }
