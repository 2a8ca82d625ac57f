// Package modelpage is the page of a model: what a server shows at /, and the same as a folder of
// files with the model inside, for which a browser is enough.
package modelpage

import (
	"embed"
	"io/fs"
)

//go:embed page
var embedded embed.FS

// Files are those of the page, beside the style of all pages.
var Files = func() fs.FS {
	f, err := fs.Sub(embedded, "page")
	if err != nil {
		panic("modelpage: the page is not embedded")
	}
	return f
}()
