package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"utvi/nn"
	"utvi/vi"
)

func (s *states) dense(v *value, from string, l nn.Dense) (*value, error) {
	w, err := s.take(from+".weight", false)
	if err != nil {
		return nil, err
	}
	if len(w.dims) != 2 || w.dims[0] != l.Out {
		return nil, fmt.Errorf("%s.weight has the size %v; a dense layer of %d outputs needs outputs × inputs", from, w.dims, l.Out)
	}
	bias, err := s.take(from+".bias", true)
	if err != nil {
		return nil, err
	}
	var offset []float64
	if bias != nil {
		offset = bias.data
		if len(offset) != l.Out {
			return nil, fmt.Errorf("%s.bias has the size %v for %d outputs", from, bias.dims, l.Out)
		}
	}
	w, err = w.transpose(nil)
	if err != nil {
		return nil, err
	}
	return v.dense(w, offset)
}

func (s *states) conv(v *value, from string, l nn.Conv2D) (*value, error) {
	w, err := s.take(from+".weight", false)
	if err != nil {
		return nil, err
	}
	if len(w.dims) == 3 { // along a line
		w.dims = []int{w.dims[0], w.dims[1], 1, w.dims[2]}
	}
	if !slices.Equal(w.dims, []int{l.Out, v.layer.shape.C / max(1, l.Groups), l.Kernel[0], l.Kernel[1]}) {
		return nil, fmt.Errorf("%s.weight has the size %v; the layer needs %d filters × %d channels × %v", from, w.dims, l.Out, v.layer.shape.C, l.Kernel)
	}
	bias, err := s.take(from+".bias", true)
	if err != nil {
		return nil, err
	}
	l.NoBias = bias == nil
	shape := v.layer.shape
	b := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: shape}
	u, err := nn.Bind(nn.Layer(l), b)
	if err != nil {
		return nil, err
	}
	w, err = w.transpose([]int{2, 3, 1, 0})
	if err != nil {
		return nil, err
	}
	tensors := [][]float64{w.data}
	if bias != nil {
		tensors = append(tensors, bias.data)
	}
	return v.after(l, u.Out(), v.rowDims(u.Out()), true, tensors...), nil
}

func (s *states) batchNorm(v *value, from string, fields map[string]json.RawMessage) (*value, error) {
	l := nn.BatchNorm{}
	if text, ok := fields["eps"]; ok {
		if err := json.Unmarshal(text, &l.Eps); err != nil {
			return nil, errors.New(`"eps" must be a number`)
		}
	}
	for name, to := range map[string]*[]float64{"running_mean": &l.Mean, "running_var": &l.Var, "weight": &l.Gain, "bias": &l.Offset} {
		k, err := s.take(from+"."+name, name == "weight" || name == "bias")
		if err != nil {
			return nil, err
		}
		if k == nil {
			continue
		}
		if len(k.data) != v.layer.shape.C {
			return nil, fmt.Errorf("%s.%s has the size %v for %d channels", from, name, k.dims, v.layer.shape.C)
		}
		*to = k.data
		if v.flatRow() {
			*to = v.here(k.data, 1)
		}
	}
	return v.same(l), nil
}

func (s *states) layerNorm(v *value, from string, l nn.LayerNorm) (*value, error) {
	gain, err := s.take(from+".weight", true)
	if err != nil {
		return nil, err
	}
	offset, err := s.take(from+".bias", true)
	if err != nil {
		return nil, err
	}
	return v.normalised(gain, offset, l.Eps, len(v.at)-1)
}
