// Package pagestyle holds what pages share: the style of all of them, and the controls
// and drawing of those that run in a browser (the server's, and that of a training).
package pagestyle

import (
	"embed"
	_ "embed"
)

// CSS is the style of all pages.
//
//go:embed style.css
var CSS string

// Files are the parts of interactive pages: style.css, app.css, svg.js and text.js.
//
//go:embed style.css app.css svg.js text.js
var Files embed.FS
