package scene

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"

	"utvi/internal/compute"
	"utvi/internal/locate/frames"
)

// Write writes frames as a 16-bit TIFF stack, and the truth beside them as CSV: columns as
// ThunderSTORM calls them, frames from 1, nm from the top left corner of the first pixel. Counts
// beyond 16 bits are cut off, as cameras do. done is told of frames as they are written.
func (s *Scene) Write(ctx context.Context, n int, stack, truth io.Writer, pool *compute.Pool, done func(frames int)) error {
	const perWorker = 8
	batch := perWorker * pool.Workers()
	counts := make([][]float32, batch)
	for i := range counts {
		counts[i] = make([]float32, s.Width*s.Height)
	}
	emitters := make([][]Emitter, batch)
	pixels := make([]uint16, s.Width*s.Height)
	w := frames.NewWriter(stack, s.Width, s.Height, n)
	table := bufio.NewWriter(truth)
	fmt.Fprintln(table, `"id","frame","x [nm]","y [nm]","intensity [photon]"`)
	for first := 0; first < n; first += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := min(batch, n-first)
		pool.Run(m, func(_, i int) { emitters[i] = s.Frame(first+i, counts[i], emitters[i][:0]) })
		for i := range m {
			for j, c := range counts[i] {
				pixels[j] = uint16(min(max(c, 0), math.MaxUint16))
			}
			if err := w.Write(pixels); err != nil {
				return err
			}
			for _, e := range emitters[i] {
				fmt.Fprintf(table, "%d,%d,%.3f,%.3f,%.2f\n", e.ID, first+i+1, e.X*s.Pixel, e.Y*s.Pixel, e.Photons)
			}
		}
		done(m)
	}
	return table.Flush()
}
