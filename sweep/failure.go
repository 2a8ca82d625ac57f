package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"utvi/internal/atomicfile"
	"utvi/internal/strictjson"
)

// A Failure is the note that a trial which failed leaves. A later result
// outweighs it, and removes it.
type Failure struct {
	Format int       `json:"format"`
	Trial  string    `json:"trial"` // its ID
	Error  string    `json:"error"`
	Stack  string    `json:"stack,omitempty"` // of a panic
	Run    RunRecord `json:"run"`
}

// FailurePath is the file of a failed trial's note.
func FailurePath(dir string, t Trial) string { return stem(dir, t) + ".failed.json" }

// LoadFailure reads a trial's note of failure, nil where there is none.
func LoadFailure(dir string, t Trial) (*Failure, error) {
	path := FailurePath(dir, t)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &Failure{}
	if err := strictjson.Unmarshal(b, f); err != nil || f.Format != planFormat || f.Trial != t.ID() {
		return nil, fmt.Errorf("%s is damaged or is not a note of %s", path, t.ID())
	}
	return f, nil
}

// save leaves the note where it can: the failure itself is what matters.
func (f *Failure) save(dir string, t Trial) {
	atomicfile.Write(FailurePath(dir, t), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(f)
	})
}

// A panicked error is a panic of a kind, which must not take the other trials
// with it.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) Error() string { return fmt.Sprintf("internal error: %v", p.value) }
