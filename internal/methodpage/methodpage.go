// Package methodpage is a page to play with the method: choose a function, a rule and a Normal, and
// see where the rule looks, what it makes of what it saw, and the exact density.
package methodpage

import (
	"embed"
	"io/fs"

	"utvi/internal/browser"
)

//go:embed page
var embedded embed.FS

// Folder returns the files of the page, for a browser alone.
func Folder() (map[string][]byte, error) {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		return nil, err
	}
	return browser.Page{Files: files}.Folder()
}
