package serve

import (
	"strconv"

	"utvi/internal/answer"
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
	var ask question
	if c.isImage() {
		ask, err = readImage(body, c.r.URL.Query(), l, &c.lease)
	} else {
		ask, err = readQuestion(body, l, c.s.Limits, &c.lease)
	}
	if err != nil {
		return err
	}
	c.s.noteOldNames(&ask.options)
	c.rows = ask.x.Rows
	if err := ask.fits(c.rows, l, c.s.Limits); err != nil {
		return err
	}
	size := ask.answerSize(l)
	if err := c.lease.take(int64(c.rows) * int64(size)); err != nil {
		return err
	}
	p, err := ask.predictor(l)
	if err != nil {
		return err
	}
	a := answer.New(l.words, p, ask.Quantiles, ask.Density)
	o := &order{x: ask.x, p: p, extra: ask.extra(), end: c.end}
	o.read = func(b *predict.Batch, row int, j *job, i int) {
		if j.out == nil {
			j.out = make([]byte, 0, j.x.Rows*size)
		}
		if i > 0 {
			j.out = append(j.out, ',')
		}
		j.out = a.Row(j.out, b, row)
	}
	jobs, err := l.queue.predict(c.r.Context(), o)
	if err != nil {
		return as(invalid, err)
	}
	c.writeAnswers(c.answerHead(a, p), jobs)
	return nil
}

// answerHead is what stands before the predictions.
func (c *call) answerHead(a *answer.Answerer, p *predict.Predictor) []byte {
	out := append(make([]byte, 0, 300), `{"model":"`...)
	out = append(out, c.model.Name...) // plain, like its version
	out = append(out, `","version":"`...)
	out = append(out, c.model.Version...)
	out = append(out, '"')
	if level, ok := answer.Level(p); ok && a.Classes == nil {
		out = append(out, `,"interval":`...)
		out = strconv.AppendFloat(out, level, 'g', -1, 64)
	}
	return append(out, `,"predictions":[`...)
}

// writeAnswers answers with the predictions of jobs, each from its own memory.
func (c *call) writeAnswers(head []byte, jobs []*job) {
	const tail = "]}\n"
	if len(jobs) == 1 && len(jobs[0].out) < smallBody { // most requests: one write
		c.write(append(append(head, jobs[0].out...), tail...))
		return
	}
	size := len(head) + len(tail) + max(0, len(jobs)-1)
	for _, j := range jobs {
		size += len(j.out)
	}
	h := c.head()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(size)}
	c.w.Write(head) // a client that went away is not an error of the server
	for i, j := range jobs {
		if i > 0 {
			c.w.Write([]byte{','})
		}
		if _, err := c.w.Write(j.out); err != nil {
			return
		}
	}
	c.w.Write([]byte(tail))
}

// list answers GET /models: the newest version of every model.
func (c *call) list() error {
	all := c.s.models
	out := []byte(`{"models":[`)
	for i, name := range all.names {
		if i > 0 {
			out = append(out, ',')
		}
		text, err := all.description(all.byName[name][0])
		if err != nil {
			return err
		}
		if err := c.lease.take(3 * int64(len(text))); err != nil {
			return err
		}
		out = append(out, text...)
	}
	return c.write(append(out, "]}\n"...))
}

// show answers GET /models/NAME.
func (c *call) show() error {
	if err := c.find(); err != nil {
		return err
	}
	text, err := c.s.models.description(c.model)
	if err != nil {
		return err
	}
	return c.write(text)
}
