package fit

import (
	"fmt"

	"utvi/internal/folder"
	"utvi/internal/memory"
	"utvi/table"
)

// ReadTable reads all rows of a table. A table that does not fit into memory is an error.
//
// A folder of images is a table, too: of the column file, the column class, which subfolders name,
// and part, train or test, where the folder has such parts. Config.Images.Column, Config.Targets
// and Config.Images.Part name them. Programs that read images import utvi/table/images.
func ReadTable(path string, o table.Options) (*table.Frame, error) {
	if folder.Is(path) {
		return readFolder(path)
	}
	r, err := table.Open(path, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return table.Load(&bounded{Source: r, left: cellsFor(memory.Available())})
}

// readFolder reads the names and classes of the images in a folder, of at least two classes.
func readFolder(path string) (*table.Frame, error) {
	s, err := folder.Open(path, folder.Names{})
	if err != nil {
		return nil, err
	}
	if err := s.CheckClasses(); err != nil {
		return nil, err
	}
	return table.Load(s)
}

// A bounded source ends with a sentence before the system would end the program.
type bounded struct {
	table.Source
	left float64 // cells
	rows int
}

func (b *bounded) Next() (*table.Chunk, error) {
	c, err := b.Source.Next()
	if err != nil {
		return nil, err
	}
	b.rows += c.Rows()
	b.left -= float64(c.Rows() * len(b.Header().Columns))
	if b.left < 0 {
		return nil, fmt.Errorf("%s does not fit into memory: there is room for about %d rows; use a sample of the table", b.Header().File, b.rows/10*9)
	}
	return c, nil
}

// cellsFor is how many cells may be read: a cell takes eight bytes, its encoding for
// all trainings up to twice that, and some room is left to others.
func cellsFor(bytes float64) float64 { return 0.8 * bytes / 24 }
