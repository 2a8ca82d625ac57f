package serve

import (
	"strconv"

	"utvi/predict"
)

// predict answers POST /predict/NAME.
func (c *call) predict() error {
	if err := c.find(); err != nil {
		return err
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	l := c.model.now.Load()
	ask, err := readQuestion(body, l, c.s.Limits, &c.lease)
	if err != nil {
		return err
	}
	c.rows = ask.x.Rows
	if err := ask.fits(c.rows, l, c.s.Limits, &c.lease); err != nil {
		return err
	}
	p, err := ask.predictor(l)
	if err != nil {
		return err
	}
	a := newAnswerer(l, p, &ask.options)
	jobs, err := l.queue.predict(c.r.Context(), c.end, ask.x, p, func(b *predict.Batch, at int, j *job) {
		for i := range j.x.Rows {
			if i > 0 {
				j.out = append(j.out, ',')
			}
			j.out = a.row(j.out, b, at+i)
		}
	})
	if err != nil {
		return as(invalid, err)
	}
	size := 200
	for _, j := range jobs {
		size += len(j.out) + 1
	}
	out := make([]byte, 0, size)
	out = append(out, `{"model":"`...)
	out = append(out, c.model.Name...) // plain, like its version
	out = append(out, `","version":"`...)
	out = append(out, c.model.Version...)
	out = append(out, '"')
	if level, ok := ask.interval(p); ok && a.classes == nil {
		out = append(out, `,"interval":`...)
		out = strconv.AppendFloat(out, level, 'g', -1, 64)
	}
	out = append(out, `,"predictions":[`...)
	for i, j := range jobs {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, j.out...)
	}
	return c.write(append(out, "]}\n"...))
}

// list answers GET /models: the newest version of every model.
func (c *call) list() error {
	all := []description{}
	for _, name := range c.s.models.names {
		all = append(all, c.s.models.describe(c.s.models.byName[name][0]))
	}
	return c.writeJSON(map[string]any{"models": all})
}

// show answers GET /models/NAME.
func (c *call) show() error {
	if err := c.find(); err != nil {
		return err
	}
	return c.writeJSON(c.s.models.describe(c.model))
}
