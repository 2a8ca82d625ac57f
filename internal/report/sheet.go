package report

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image"
	"image/png"
)

// A Sheet shows images beside each other.
type Sheet struct {
	Title   string // the caption's first words, set in bold
	Caption string
	Width   int // of each image, in CSS pixels
	Tiles   []Tile
}

// A Tile is an image of a sheet with what is said of it.
type Tile struct {
	Image image.Image
	Text  string
}

// A sheetView has the images as texts that a page takes.
type sheetView struct {
	Sheet
	Tiles []tileView
}

type tileView struct {
	Text string
	URL  template.URL
}

func (s Sheet) part(*pageView) (partView, error) {
	v := &sheetView{Sheet: s}
	for _, t := range s.Tiles {
		var b bytes.Buffer
		if err := png.Encode(&b, t.Image); err != nil {
			return partView{}, err
		}
		v.Tiles = append(v.Tiles, tileView{t.Text, template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))})
	}
	return partView{Sheet: v}, nil
}
