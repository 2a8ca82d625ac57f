package frames

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"utvi/internal/inputfile"
)

func (p *plain) read(f io.ReaderAt, i int, dst []float32, s *scratch) error {
	b := buffer(&s.raw, len(dst)*p.bytes)
	if err := readFull(f, b, p.start+int64(i)*int64(len(b))); err != nil {
		return err
	}
	return p.decode(dst, b)
}

// rawHeader is the .yaml file beside a .raw file, as Picasso writes it.
type rawHeader struct {
	Order  string `yaml:"Byte Order"`
	Type   string `yaml:"Data Type"`
	Frames int    `yaml:"Frames"`
	Height int    `yaml:"Height"`
	Width  int    `yaml:"Width"`
}

func openRaw(path string, size int64) (layout, error) {
	beside := strings.TrimSuffix(path, path[len(path)-len(".raw"):]) + ".yaml"
	text, err := inputfile.Read(beside, 20)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s beside it, which says Width, Height, Frames, Data Type and Byte Order", beside)
	}
	if err != nil {
		return nil, err
	}
	var h rawHeader
	if err := yaml.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("%s cannot be read as YAML", beside)
	}
	n, err := namedNumber(h.Type)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", beside, err)
	}
	if h.Order == ">" {
		n.order = binary.BigEndian
	}
	p := &plain{width: h.Width, height: h.Height, count: h.Frames, number: n}
	return p, p.check(size)
}

// namedNumber is the number of a NumPy type such as uint16 or <u2.
func namedNumber(name string) (number, error) {
	n := number{order: binary.LittleEndian}
	if strings.HasPrefix(name, ">") {
		n.order = binary.BigEndian
	}
	short := strings.TrimLeft(name, "<>|=")
	for long, kind := range map[string]byte{"uint": 'u', "int": 'i', "float": 'f'} {
		bits, err := strconv.Atoi(strings.TrimPrefix(short, long))
		if strings.HasPrefix(short, long) && err == nil {
			n.kind = kind
			n.bytes = bits / 8
		}
	}
	if n.kind == 0 && len(short) == 2 && strings.IndexByte("uif", short[0]) >= 0 {
		n.kind = short[0]
		n.bytes = int(short[1] - '0')
	}
	if n.kind == 0 || n.check() != nil {
		return n, fmt.Errorf("its numbers are of the type %q; uint8, uint16, uint32, int16, float32 and their like are read", name)
	}
	return n, nil
}
