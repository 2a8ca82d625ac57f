package serve

import (
	"embed"
	"io/fs"
	"net/http"

	"utvi/internal/pagestyle"
)

//go:embed openapi.json
var openAPI []byte

//go:embed page
var embedded embed.FS

var files = func() fs.FS {
	f, err := fs.Sub(embedded, "page")
	if err != nil {
		panic("serve: the page is not embedded")
	}
	return f
}()

// page answers with a file of the page, or says that nothing is there.
func (c *call) page(mux *http.ServeMux) error {
	r := c.r
	name := r.URL.Path[1:]
	if name == "" {
		name = "index.html"
	}
	from := files
	info, err := fs.Stat(from, name)
	if err != nil {
		from = pagestyle.Files
		info, err = fs.Stat(from, name)
	}
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err == nil && !info.IsDir() && get {
		h := c.w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		http.ServeFileFS(c.w, r, from, name)
		return nil
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(other); pattern != "/" && method != r.Method {
			c.w.Header().Set("Allow", method)
			return failf(wrongMethod, "%.80q takes %s, not %.20q", r.URL.Path, method, r.Method)
		}
	}
	return failf(notFound, "there is nothing at %.80q; /openapi.json lists what there is", r.URL.Path)
}
