// Package pagestyle holds the style that all pages share: reports, the page of a server
// and the page of a training.
package pagestyle

import _ "embed"

// CSS is the style sheet.
//
//go:embed page.css
var CSS string
