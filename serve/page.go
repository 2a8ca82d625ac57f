package serve

import (
	_ "embed"
	"io/fs"
	"net/http"

	"utvi/internal/modelpage"
	"utvi/internal/pagestyle"
)

//go:embed openapi.json
var openAPI []byte

// page answers with a file of the page, or says that nothing is there.
func (c *call) page(mux *http.ServeMux) error {
	r := c.r
	name := r.URL.Path[1:]
	if name == "" {
		name = "index.html"
	}
	from := modelpage.Files
	info, err := fs.Stat(from, name)
	if err != nil {
		from = pagestyle.Files
		info, err = fs.Stat(from, name)
	}
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err == nil && !info.IsDir() && get {
		h := c.head()
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
