package live

import "net/http"

// A Look is what a page shows of work that trains nothing.
type Look struct {
	Picture []byte // PNG; nil: none
	Alt     string // what it shows, for those who cannot see it
	Title   string
	Caption string
	Facts   []Fact
	Curves  []Curve
}

// A Fact is a name with its value.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Curve is a line over numbers that rise.
type Curve struct {
	Title   string    `json:"title"`
	Caption string    `json:"caption"`
	X       string    `json:"x"` // label of the axis
	At      []*Number `json:"at"`
	Of      []*Number `json:"of"`
}

// look is a Look in JSON. The picture stands at an address of its own, with its number.
type look struct {
	Picture int     `json:"picture"` // 0: none
	Alt     string  `json:"alt"`
	Title   string  `json:"title"`
	Caption string  `json:"caption"`
	Facts   []Fact  `json:"facts"`
	Curves  []Curve `json:"curves"`
}

// Look shows something else than the last Look.
func (p *Page) Look(l Look) {
	p.change(func() {
		number := 0
		if p.now.Look != nil {
			number = p.now.Look.Picture
		}
		if l.Picture != nil {
			p.picture = l.Picture
			number++
		}
		p.now.Look = &look{number, l.Alt, l.Title, l.Caption, l.Facts, l.Curves}
	})
}

// servePicture answers with the latest picture.
func (p *Page) servePicture(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	b := p.picture
	p.mu.Unlock()
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if b == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Write(b)
}
