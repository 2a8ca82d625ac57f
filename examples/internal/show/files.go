package show

import (
	"flag"
	"io"
	"log"
	"os"
	"path/filepath"

	"utvi/internal/atomicfile"
	"utvi/internal/safetensors"
	"utvi/model"
)

// Options say where an example writes.
type Options struct {
	Folder string // of the figure
	Save   bool   // also the network and the rows of the test, with what was predicted
	Out    io.Writer
}

// Main runs an example with the options of the command line.
func Main(run func(o Options) error) {
	o := Options{Out: os.Stdout}
	flag.StringVar(&o.Folder, "o", ".", "folder for the figure")
	flag.BoolVar(&o.Save, "save", false, "also write the network and the rows of the test, for bench/examples/drawn.py")
	flag.Parse()
	log.SetFlags(0)
	err := os.MkdirAll(o.Folder, 0o755) // now, not when all is trained
	if err == nil {
		err = run(o)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// Rows is one of the arrays of a test, with so many numbers a row.
type Rows struct {
	Name  string
	Width int
	Of    []float32
}

// Store writes a network to NAME.safetensors and arrays to NAME-test.safetensors, if the options say so.
func (o Options) Store(name string, net *model.Model, arrays ...Rows) error {
	if !o.Save {
		return nil
	}
	if err := net.Save(filepath.Join(o.Folder, name+".safetensors")); err != nil {
		return err
	}
	var f safetensors.File
	for _, a := range arrays {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: a.Name, Shape: []int{len(a.Of) / a.Width, a.Width}, F32: a.Of})
	}
	return atomicfile.Write(filepath.Join(o.Folder, name+"-test.safetensors"), f.Write)
}
