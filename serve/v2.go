package serve

import (
	"encoding/json"
	"strconv"
)

// headerLength is the header that says how long the JSON in front of binary tensors is.
const headerLength = "Inference-Header-Content-Length"

var extensions = []string{"binary_tensor_data"}

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

// A wireRequest is the JSON of an inference request.
type wireRequest struct {
	ID         string         `json:"id"`
	Parameters map[string]any `json:"parameters"`
	Inputs     []wireInput    `json:"inputs"`
	Outputs    []struct {
		Name       string         `json:"name"`
		Parameters map[string]any `json:"parameters"`
	} `json:"outputs"`
}

type wireInput struct {
	Name       string          `json:"name"`
	Datatype   string          `json:"datatype"`
	Shape      []int64         `json:"shape"`
	Parameters map[string]any  `json:"parameters"`
	Data       json.RawMessage `json:"data"`
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
	raw := []byte(nil) // the binary tensors
	if text := c.r.Header.Get(headerLength); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > len(body) {
			return failf(malformed, "the header %s is %.40q; it must be the length of the JSON, at most the %d bytes of the body", headerLength, text, len(body))
		}
		body, raw = body[:n], body[n:]
	}
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return failf(malformed, "the JSON is not an inference request: %v", err)
	}
	q := &inference{l: c.model.now.Load(), limits: c.s.Limits, mem: &c.lease}
	binary := false
	if err := q.parameters(w.Parameters, &binary); err != nil {
		return err
	}
	q.inputs, err = c.readInputs(w.Inputs, raw)
	if err != nil {
		return err
	}
	asBinary := map[string]bool{}
	for _, o := range w.Outputs {
		q.outputs = append(q.outputs, o.Name)
		asBinary[o.Name] = binary
		if v, ok := o.Parameters["binary_data"]; ok {
			asBinary[o.Name], ok = v.(bool)
			if !ok {
				return failf(invalid, "the parameter binary_data of output %.60q must be true or false", o.Name)
			}
		}
		if _, ok := o.Parameters["classification"]; ok {
			return failf(invalid, "the classification extension is not supported; ask for the outputs class and probabilities")
		}
	}
	out, rows, err := q.run(c.r.Context(), c.end)
	if err != nil {
		return err
	}
	c.rows = rows
	if w.Outputs == nil {
		for _, t := range out {
			asBinary[t.name] = binary
		}
	}
	return c.writeTensors(w.ID, q.l, out, asBinary)
}

// readInputs reads the tensors of a request: JSON, or bytes behind it.
func (c *call) readInputs(all []wireInput, raw []byte) ([]tensor, error) {
	out := make([]tensor, len(all))
	for i, w := range all {
		t := &out[i]
		*t = tensor{name: w.Name, datatype: w.Datatype, shape: w.Shape}
		n, err := t.elements(c.s.Limits)
		if err != nil {
			return nil, err
		}
		size, isRaw := w.Parameters["binary_data_size"]
		switch {
		case isRaw && w.Data != nil:
			return nil, failf(invalid, "tensor %.60q has both data and binary data", w.Name)
		case isRaw:
			bytes, ok := size.(float64)
			if !ok || bytes < 0 || bytes > float64(len(raw)) || bytes != float64(int(bytes)) {
				return nil, failf(invalid, "tensor %.60q has the binary_data_size %v; %d bytes are left behind the JSON", w.Name, size, len(raw))
			}
			if err := c.lease.take(int64(8 * min(n, int(bytes)))); err != nil {
				return nil, err
			}
			if err := t.readRaw(raw[:int(bytes)], n); err != nil {
				return nil, err
			}
			raw = raw[int(bytes):]
		case w.Data == nil:
			return nil, failf(invalid, "tensor %.60q has no data", w.Name)
		default:
			if err := c.lease.take(int64(8 * min(n, len(w.Data)))); err != nil {
				return nil, err
			}
			if err := t.readJSON(w.Data, n); err != nil {
				return nil, err
			}
		}
	}
	if len(raw) > 0 {
		return nil, failf(invalid, "%d bytes behind the JSON belong to no tensor", len(raw))
	}
	return out, nil
}

// writeTensors answers with tensors: JSON, and bytes behind it for those that are asked
// for as bytes.
func (c *call) writeTensors(id string, l *loaded, all []tensor, binary map[string]bool) error {
	out := append([]byte(nil), `{"model_name":"`...)
	out = append(append(out, c.model.Name...), `","model_version":"`...)
	out = append(append(out, c.model.Version...), '"')
	if id != "" {
		out = append(append(out, `,"id":`...), quote(id)...)
	}
	params, err := json.Marshal(responseParameters(l))
	if err != nil {
		return err
	}
	out = append(append(out, `,"parameters":`...), params...)
	out = append(out, `,"outputs":[`...)
	anyRaw := false
	for i := range all {
		t := &all[i]
		if i > 0 {
			out = append(out, ',')
		}
		shape, _ := json.Marshal(t.shape)
		out = append(append(out, `{"name":"`...), t.name...)
		out = append(append(out, `","datatype":"`...), t.datatype...)
		out = append(append(out, `","shape":`...), shape...)
		if binary[t.name] {
			anyRaw = true
			out = append(out, `,"parameters":{"binary_data_size":`...)
			out = append(strconv.AppendInt(out, int64(t.rawSize()), 10), '}')
		} else {
			out = t.appendJSON(append(out, `,"data":`...))
		}
		out = append(out, '}')
	}
	out = append(out, "]}"...)
	if !anyRaw {
		return c.write(append(out, '\n'))
	}
	c.w.Header().Set(headerLength, strconv.Itoa(len(out)))
	for i := range all {
		if binary[all[i].name] {
			out = all[i].appendRaw(out)
		}
	}
	return c.writeAs("application/octet-stream", out)
}
