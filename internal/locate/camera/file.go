package camera

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
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

// files are numbers that each pixel has of its own: images, beside the file that names them.
var files = []string{"offset-map", "gain-map", "variance-map"}

// ReadFile reads a YAML file of a camera's numbers and returns them by the names offset, gain, em-gain,
// qe, read-noise and pixel, and images by offset-map, gain-map and variance-map. The names that Picasso
// and DECODE use are understood.
func ReadFile(path string) (map[string]string, error) {
	text, err := inputfile.Read(path, 20)
	if err != nil {
		return nil, err
	}
	var lines map[string]any
	if err := yaml.Unmarshal(text, &lines); err != nil {
		return nil, fmt.Errorf("%s: it is not YAML; it should have lines such as offset: 100", path)
	}
	found := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		if slices.Contains(files, key) {
			file, ok := lines[key].(string)
			if !ok || file == "" {
				return nil, fmt.Errorf("%s: %s is %v; it must be the name of an image", path, key, lines[key])
			}
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(path), file)
			}
			found[key] = file
			continue
		}
		name, ok := names[strings.ToLower(key)]
		if !ok {
			return nil, fmt.Errorf("%s: %q is not known; a camera has offset, gain, em-gain, qe, read-noise and pixel, or offset-map, gain-map and variance-map", path, key)
		}
		switch x := lines[key].(type) {
		case int:
			found[name] = strconv.Itoa(x)
		case float64:
			found[name] = strconv.FormatFloat(x, 'g', -1, 64)
		default:
			return nil, fmt.Errorf("%s: %s is %v; it must be a number", path, key, x)
		}
	}
	return found, nil
}
