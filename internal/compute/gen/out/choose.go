package out

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"strings"

	"utvi/internal/compute/gen/isa"
)

// choices is the text of a file with one function for each kernel, which calls that of
// the family at work. A table of function values would do the same but let every
// operand escape to the heap.
func choices(pkg string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\npackage %s\n\nimport \"utvi/internal/compute/internal/cpu\"\n", pkg)
	for _, k := range isa.Kernels {
		e, err := parser.ParseExpr(k.Signature)
		check(err)
		f := e.(*ast.FuncType)
		var names []string
		for _, p := range f.Params.List {
			for _, n := range p.Names {
				names = append(names, n.Name)
			}
		}
		stem, args := strings.TrimSuffix(k.Name, "Asm"), strings.Join(names, ", ")
		fmt.Fprintf(&b, "\nfunc %s%s {\n\tif cpu.Wide {\n", k.Name, strings.TrimPrefix(k.Signature, "func"))
		if f.Results == nil {
			fmt.Fprintf(&b, "%sAVX512(%s)\nreturn\n}\n%sAVX2(%s)\n}\n", stem, args, stem, args)
		} else {
			fmt.Fprintf(&b, "return %sAVX512(%s)\n}\nreturn %sAVX2(%s)\n}\n", stem, args, stem, args)
		}
	}
	text, err := format.Source(b.Bytes())
	check(err)
	return text
}
