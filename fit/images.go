package fit

import (
	"context"
	"fmt"
	"time"

	"utvi/internal/advice"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/folder"
	"utvi/internal/pixels"
	"utvi/internal/schema"
	"utvi/internal/vision"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
	"utvi/table"
)

// runImages is Run for a table that names images.
func runImages(ctx context.Context, f *table.Frame, c Config, o Options) (*Result, error) {
	p, err := partImages(f, c)
	if err != nil {
		return nil, err
	}
	pool := compute.NewPool(compute.Workers(o.Workers))
	defer pool.Close()
	g, err := openGallery(p, c, pool)
	if err != nil {
		return nil, err
	}
	s, err := g.columns(c)
	if err != nil {
		return nil, err
	}
	if o.Schema != nil {
		o.Schema(s)
	}
	g.fewOfClass(s)
	if o.Warn != nil {
		for _, w := range g.warnings {
			o.Warn(w)
		}
	}
	m, stopped, err := g.learn(ctx, s, c, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Model: m, Warnings: g.warnings}
	if c.Holdout > 0 && len(g.heldOut) > 0 {
		err = g.judge(context.WithoutCancel(ctx), r, stopped != nil, pool)
	}
	if err != nil {
		return nil, err
	}
	return r, stopped
}

// partImages holds out the rows of the part for testing, or as many as the configuration says.
func partImages(f *table.Frame, c Config) (parted, error) {
	if c.Images.Part == "" || c.Holdout < 0 {
		p, err := whole(f, c)
		if err != nil {
			return p, err
		}
		return p.hold(c, "")
	}
	col, err := f.Header().Find([]string{c.Images.Part}, 0, "part")
	if err != nil {
		return parted{}, err
	}
	rows, missing := schema.WithTargets(f, nil, c.Targets)
	p := parted{frame: f, missing: missing}
	for _, row := range rows {
		if p.level(row, col) == folder.Test {
			p.heldOut = append(p.heldOut, row)
		} else {
			p.train = append(p.train, row)
		}
	}
	if len(p.train) == 0 || len(p.heldOut) == 0 {
		return p, fmt.Errorf("%s: %d images to learn from and %d to test with; both are needed", f.Header().File, len(p.train), len(p.heldOut))
	}
	return p, nil
}

// columns are what the table's columns are: the image, the targets, and further inputs.
func (g *gallery) columns(c Config) (*schema.Schema, error) {
	format := g.images.Format()
	columns := c.columns()
	besideImage(&columns, c, &format)
	p, s, err := g.parted.learnColumns(columns)
	if err != nil {
		return nil, err
	}
	if len(p.train) != len(g.train) {
		return nil, fmt.Errorf("%s: a class of the images held out is not among those to learn from; every class needs images of both", g.frame.Header().File)
	}
	return s, checkBeside(g.frame.Header().File, s)
}

// fewOfClass warns of classes with few images.
func (g *gallery) fewOfClass(s *schema.Schema) {
	if s.Task != schema.Classification {
		g.perhapsClasses(s)
		return
	}
	const few = 20
	t := s.Targets()[0]
	var all []Warning
	for i, n := range t.Counts {
		if n < few {
			all = append(all, advice.New("class %s has %s to learn from; its probabilities will be rough", t.Levels[i], pictures(n)))
		}
	}
	g.warnings = append(g.warnings, fewer(all)...)
}

// perhapsClasses warns of a number that may number classes.
func (g *gallery) perhapsClasses(s *schema.Schema) {
	const few = 20
	for _, t := range s.Targets() {
		if n := t.Max - t.Min + 1; t.Whole && n <= few && len(s.Targets()) == 1 {
			g.warnings = append(g.warnings, advice.New("the target %s has whole numbers from %g to %g and is predicted as a number; if they stand for classes, %v", t.Name, t.Min, t.Max, advice.Set("Task", string(schema.Classification))))
		}
	}
}

// fewer are some of the warnings about classes.
func fewer(all []Warning) []Warning { return few(all, "%d more classes have few images") }

func pictures(n int) string {
	if n == 1 {
		return "1 image"
	}
	return fmt.Sprintf("%d images", n)
}

// exhibits are the images of a gallery as networks see them.
type exhibits struct{ *pixels.Set }

func (e exhibits) Shape() nn.Shape {
	f := e.Format()
	return nn.Shape{H: f.Height, W: f.Width, C: f.Channels}
}

// learn trains networks. stopped is the error of ctx if it ended the training.
func (g *gallery) learn(ctx context.Context, s *schema.Schema, c Config, o Options) (m *Model, stopped, err error) {
	d := vision.Data{Images: exhibits{g.images}, Classes: len(s.Classes())}
	d.Targets = len(s.Targets())
	d.Y, err = g.targets(s, g.train)
	if err != nil {
		return nil, nil, err
	}
	d.Known, err = g.known(s, g.train)
	if err != nil {
		return nil, nil, err
	}
	settings := vision.Config{Network: c.Network, Augment: c.Images.Augment, Seed: c.Seed}
	settings.Network.Parallel = o.Workers
	settings.Network.Engine = o.Engine
	settings.From = g.from
	settings.Note = o.Warn
	began := time.Now()
	limited, cancel := budget(ctx, o.Budget, began)
	defer cancel()
	r, err := vision.Fit(limited, settings, d, o.Checkpoint, o.Progress)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		stopped = ctx.Err()
	case limited.Err() == nil:
		return nil, nil, err
	}
	if r == nil && stopped != nil {
		return nil, nil, stopped
	}
	if r == nil {
		return nil, nil, fmt.Errorf("the time budget of %v ended after %v, before the first model was ready; allow more time", o.Budget, time.Since(began).Round(time.Second))
	}
	for i, n := range r.Members.Members { // the same whether it was stopped or not
		n.Facts = model.Facts{Rows: len(g.train), Steps: r.Report.Members[i].Steps}
	}
	var correction []calibrate.Calibration
	if r.Temperature != nil {
		correction = []calibrate.Calibration{{Temperature: r.Temperature}}
	}
	p, err := predict.New(r.Fitted, s, correction)
	if err != nil {
		return nil, nil, err
	}
	p.Histograms, err = s.Histograms(g.frame.Rows(g.train))
	if err != nil {
		return nil, nil, err
	}
	p.Sketch = newSketch(g.hashes(d))
	return &Model{Model: p, Facts: Facts{Config: c, Rows: len(g.train), Interrupted: r.Report.Partial, SetAside: g.missing + g.left}}, stopped, nil
}

// hashes are those of the rows to learn from, as hashRows gives them of encoded rows.
func (g *gallery) hashes(d vision.Data) []uint64 {
	f := g.images.Format()
	x := make([]float32, d.Known.Width(f.Size()))
	all := make([]uint64, g.images.Len())
	for i := range all {
		d.Known.Write(i, x)
		g.images.Read(i, d.Known.Pixels(x))
		all[i] = hashRow(x, d.Y[i*d.Targets:(i+1)*d.Targets])
	}
	return all
}

// spread are at most so many of some rows, evenly spaced: rows of a folder are in the order of their
// classes.
func spread(rows []int, most int) []int {
	n := min(len(rows), most)
	out := make([]int, n)
	for i := range out {
		out[i] = rows[i*len(rows)/n]
	}
	return out
}

// judge scores the model on the images held out.
func (g *gallery) judge(ctx context.Context, r *Result, hurried bool, pool *compute.Pool) error {
	rows := g.heldOut
	if hurried {
		rows = spread(rows, stoppedRows)
	}
	t, err := r.Model.tally(ctx, g.frame.Rows(rows), pool)
	if err != nil {
		return err
	}
	r.Evaluation, err = r.Model.evaluation(t, g.frame.Header().File)
	if err != nil {
		return err
	}
	r.Insight = &Insight{}
	if !hurried {
		err = g.show(r.Insight, r.Model, pool)
		if err != nil {
			return err
		}
	}
	r.Model.Facts.Held = r.Evaluation.Scores()
	if n := len(rows); n < len(g.heldOut) {
		r.Evaluation.Notes = append(r.Evaluation.Notes, fmt.Sprintf("the fit was stopped: %d of %d held-out images are scored", n, len(g.heldOut)))
	}
	return nil
}
