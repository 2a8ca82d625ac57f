// Package docs holds documents that the command prints.
package docs

import _ "embed"

// Glossary says what the words in the output mean, as Markdown.
//
//go:embed glossary.md
var Glossary string
