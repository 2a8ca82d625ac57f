package serve

import (
	"encoding/json"
	"strconv"

	"utvi/internal/answer"
)

// headerLength is the header that says how long the JSON in front of binary tensors is.
const headerLength = "Inference-Header-Content-Length"

var extensions = []string{"binary_tensor_data", "model_configuration", "statistics"}

func (c *call) live() error { return c.writeJSON(map[string]bool{"live": true}) }

func (c *call) ready() error {
	if c.s.ending.Load() {
		return failf(closing, "the server is stopping")
	}
	return c.writeJSON(map[string]bool{"ready": true})
}

func (c *call) serverMetadata() error {
	return c.writeJSON(map[string]any{"name": "utvi", "version": version(), "extensions": extensions})
}

func (c *call) modelReady() error {
	if err := c.find(); err != nil {
		return err
	}
	return c.writeJSON(map[string]any{"name": c.model.Name, "ready": true})
}

func (c *call) modelMetadata() error {
	if err := c.find(); err != nil {
		return err
	}
	l := c.model.now.Load()
	in, out := signatures(l)
	return c.writeJSON(map[string]any{"name": c.model.Name, "versions": c.s.models.versions(c.model.Name), "platform": platform,
		"inputs": in, "outputs": out, "parameters": responseParameters(l)})
}

const platform = "utvi"

// responseParameters name the columns of the outputs.
func responseParameters(l *loaded) map[string]string {
	p := map[string]string{"targets": list(l.Targets())}
	if l.Classes() != nil {
		p["classes"] = list(l.Classes())
	}
	return p
}

// list is a list of names as one text, since parameters are texts or numbers: JSON, for
// names may have commas.
func list(names []string) string {
	text, _ := json.Marshal(names)
	return string(text)
}

// infer answers POST /v2/models/NAME/infer.
func (c *call) infer() error {
	if err := c.find(); err != nil {
		return err
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	body, raw, err := c.split(body)
	if err != nil {
		return err
	}
	r := &restRequest{s: &scanner{s: body}, raw: raw}
	r.q = &inference{l: c.model.now.Load(), limits: c.s.Limits, mem: &c.lease}
	if err := r.read(); err != nil {
		return err
	}
	c.s.noteOldNames(&r.q.options)
	out, rows, err := r.q.run(c.r.Context(), c.end)
	if err != nil {
		return err
	}
	c.rows = rows
	return c.writeTensors(r, out)
}

// split cuts the binary tensors off a body.
func (c *call) split(body []byte) (text, raw []byte, err error) {
	header := c.r.Header.Get(headerLength)
	if header == "" {
		return body, nil, nil
	}
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 || n > len(body) {
		return nil, nil, failf(malformed, "the header %s is %.40q; it must be the length of the JSON, at most the %d bytes of the body", headerLength, header, len(body))
	}
	return body[:n], body[n:], nil
}

// writeTensors answers with tensors: JSON, and bytes behind it for those that are asked
// for as bytes.
func (c *call) writeTensors(r *restRequest, all []tensor) error {
	params, err := json.Marshal(responseParameters(r.q.l))
	if err != nil {
		return err
	}
	size := 400 + len(params) + 6*len(r.id)
	for i := range all {
		size += 200 + all[i].textSize(r.asBytes(all[i].name))
	}
	if err := c.lease.take(int64(size)); err != nil {
		return err
	}
	out := append(make([]byte, 0, size), `{"model_name":"`...)
	out = append(append(out, c.model.Name...), `","model_version":"`...)
	out = append(append(out, c.model.Version...), '"')
	if r.id != "" {
		out = append(append(out, `,"id":`...), answer.Quote(r.id)...)
	}
	out = append(append(out, `,"parameters":`...), params...)
	out = append(out, `,"outputs":[`...)
	anyRaw := false
	for i := range all {
		if i > 0 {
			out = append(out, ',')
		}
		asBytes := r.asBytes(all[i].name)
		anyRaw = anyRaw || asBytes
		out = all[i].appendOutput(out, asBytes)
	}
	out = append(out, "]}"...)
	if !anyRaw {
		return c.write(append(out, '\n'))
	}
	c.w.Header().Set(headerLength, strconv.Itoa(len(out)))
	for i := range all {
		if r.asBytes(all[i].name) {
			out = all[i].appendRaw(out)
		}
	}
	return c.writeAs("application/octet-stream", out)
}

// textSize is how many bytes the tensor has in an answer, at most.
func (t *tensor) textSize(asBytes bool) int {
	if asBytes {
		return t.rawSize()
	}
	n := answer.NumberBytes*len(t.floats) + 6*len(t.bools)
	for _, s := range t.texts {
		n += 6*len(s) + 3 // every character may be an escape
	}
	return n
}

// appendOutput appends an output as JSON; its bytes, if it has some, follow later.
func (t *tensor) appendOutput(out []byte, asBytes bool) []byte {
	shape, _ := json.Marshal([]int64(t.shape))
	out = append(append(out, `{"name":"`...), t.name...)
	out = append(append(out, `","datatype":"`...), t.datatype...)
	out = append(append(out, `","shape":`...), shape...)
	if asBytes {
		out = append(out, `,"parameters":{"binary_data_size":`...)
		return append(strconv.AppendInt(out, int64(t.rawSize()), 10), "}}"...)
	}
	out = t.appendJSON(append(out, `,"data":`...))
	return append(out, '}')
}
