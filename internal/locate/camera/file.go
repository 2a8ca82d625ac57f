package camera

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"utvi/internal/inputfile"
)

// names are those of flags, by the names that other programs use in their files.
var names = map[string]string{
	"offset": "offset", "baseline": "offset", "base level": "offset",
	"gain": "gain", "sensitivity": "gain", "e_per_adu": "gain",
	"em-gain": "em-gain", "em_gain": "em-gain", "em gain": "em-gain",
	"qe": "qe", "quantum efficiency": "qe",
	"read-noise": "read-noise", "read_sigma": "read-noise",
	"pixel": "pixel", "pixelsize": "pixel",
}

// ReadFile reads a YAML file of a camera's numbers and returns them by the names offset, gain, em-gain,
// qe, read-noise and pixel. The names that Picasso and DECODE use are understood.
func ReadFile(path string) (map[string]float64, error) {
	text, err := inputfile.Read(path, 20)
	if err != nil {
		return nil, err
	}
	var lines map[string]any
	if err := yaml.Unmarshal(text, &lines); err != nil {
		return nil, fmt.Errorf("%s: it is not YAML; it should have lines such as offset: 100", path)
	}
	numbers := map[string]float64{}
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		name, ok := names[strings.ToLower(key)]
		if !ok {
			return nil, fmt.Errorf("%s: %q is not known; a camera has offset, gain, em-gain, qe, read-noise and pixel", path, key)
		}
		switch x := lines[key].(type) {
		case int:
			numbers[name] = float64(x)
		case float64:
			numbers[name] = x
		default:
			return nil, fmt.Errorf("%s: %s is %v; it must be a number", path, key, x)
		}
	}
	return numbers, nil
}
