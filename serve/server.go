package serve

import (
	"embed"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"strconv"

	"utvi/internal/pagestyle"
)

// A Server answers requests for predictions.
type Server struct {
	Config
	models *models
}

// New loads the models and returns a server for them.
func New(c Config) (*Server, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	all, err := newModels(c.Models)
	if err != nil {
		return nil, err
	}
	return &Server{Config: c, models: all}, nil
}

//go:embed openapi.json
var openAPI []byte

//go:embed page
var page embed.FS

// Handler answers HTTP.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(w http.ResponseWriter, r *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := f(w, r); err != nil {
				writeFault(w, faultOf(err))
			}
		})
	}
	handle("POST /predict/{name}", s.predict)
	handle("POST /predict/{name}/versions/{version}", s.predict)
	handle("GET /models", s.list)
	handle("GET /models/{name}", s.show)
	handle("GET /models/{name}/versions/{version}", s.show)
	handle("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) error { return writeBytes(w, openAPI) })
	handle("GET /style.css", func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		io.WriteString(w, pagestyle.CSS)
		return nil
	})
	files, _ := fs.Sub(page, "page")
	mux.Handle("GET /", http.FileServerFS(files))
	return mux
}

// list answers GET /models: the newest version of every model.
func (s *Server) list(w http.ResponseWriter, _ *http.Request) error {
	all := []description{}
	for _, name := range s.models.names {
		all = append(all, s.models.describe(s.models.byName[name][0]))
	}
	return writeJSON(w, map[string]any{"models": all})
}

// show answers GET /models/NAME.
func (s *Server) show(w http.ResponseWriter, r *http.Request) error {
	m, err := s.models.find(r.PathValue("name"), r.PathValue("version"))
	if err != nil {
		return err
	}
	return writeJSON(w, s.models.describe(m))
}

// body reads the body of a request.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, s.Limits.Body))
}

func writeJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeBytes(w, append(text, '\n'))
}

func writeBytes(w http.ResponseWriter, text []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.Write(text) // a client that went away is not an error of the server
	return nil
}

func writeFault(w http.ResponseWriter, f *fault) {
	text, _ := json.Marshal(map[string]string{"error": f.text})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	w.Write(append(text, '\n'))
}
