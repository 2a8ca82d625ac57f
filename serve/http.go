package serve

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// A call is one request over HTTP.
type call struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	conn   *counted // nil: of a server that is not Run's
	from   *client
	id     string
	end    time.Time // of the time that the request may take
	lease  lease
	buffer *[]byte
	read   bool // the body was read to its end

	way   way
	model *served // nil: not known
	rows  int
}

// access says who may call.
type access uint8

const (
	open       access = iota // everybody
	private                  // who has the token
	prediction               // likewise, if the server is not busy
)

// Handler answers HTTP. Requests in progress are finished by the http.Server that calls it.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, who access, by way, f func(c *call) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, who, by, f) })
	}
	for _, v := range []string{"", "/versions/{version}"} {
		handle("POST /predict/{name}"+v, prediction, byJSON, (*call).predict)
		handle("GET /models/{name}"+v, private, byNone, (*call).show)
		handle("GET /v2/models/{name}"+v, private, byNone, (*call).modelMetadata)
		handle("GET /v2/models/{name}"+v+"/ready", private, byNone, (*call).modelReady)
		handle("POST /v2/models/{name}"+v+"/infer", prediction, byREST, (*call).infer)
		handle("GET /v2/models/{name}"+v+"/config", private, byNone, (*call).modelConfig)
		handle("GET /v2/models/{name}"+v+"/stats", private, byNone, (*call).modelStatistics)
	}
	handle("GET /v2/models/stats", private, byNone, (*call).modelStatistics)
	handle("POST /v2/repository/index", private, byNone, (*call).repositoryIndex)
	for _, path := range []string{"/v2/repository/models/", "/v2/systemsharedmemory/", "/v2/cudasharedmemory/", "/v2/trace/", "/v2/models/{name}/trace/", "/v2/logging"} {
		handle(path, private, byNone, (*call).notHere)
	}
	handle("GET /v2", private, byNone, (*call).serverMetadata)
	handle("GET /v2/health/live", open, byNone, (*call).live)
	handle("GET /v2/health/ready", open, byNone, (*call).ready)
	handle("GET /models", private, byNone, (*call).list)
	handle("GET /metrics", private, byNone, (*call).metrics)
	handle("GET /openapi.json", open, byNone, func(c *call) error { return c.write(openAPI) })
	handle("/", open, byNone, func(c *call) error { return c.page(mux) })
	return mux
}

// answer answers a request: it checks who calls, and reports what went wrong.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, who access, by way, f func(c *call) error) {
	begin := time.Now()
	var from *client
	conn, ours := r.Context().Value(connectionOf{}).(*counted)
	if ours {
		from = conn.who
	} else { // the server is another one than that of Run
		from = s.clients.enter(r.RemoteAddr)
		defer from.leave()
	}
	if r.ProtoMajor > 1 { // others have one request at a time
		most := s.Limits.connections()
		if !hold(&from.multiplexed, s.Limits.share(most)) {
			panic(http.ErrAbortHandler)
		}
		defer from.multiplexed.Add(-1)
		if !hold(&s.multiplexed, most) {
			panic(http.ErrAbortHandler)
		}
		defer s.multiplexed.Add(-1)
	}
	c := &call{s: s, w: w, r: r, conn: conn, from: from, end: begin.Add(s.Limits.Time), way: by, lease: lease{of: &s.memory, who: from}}
	c.id = s.idOf(r)
	w.Header()["X-Request-Id"] = []string{c.id}
	defer c.release()
	err := c.check(who)
	if err == nil {
		err = c.try(who, f)
	}
	code := http.StatusOK
	if err != nil {
		code = c.refuse(err)
	}
	if by != byNone && c.model != nil {
		c.model.count(by, code, c.rows, time.Since(begin))
	}
	c.log(code, err, begin)
}

// idOf is the name that a client gave its request, if it can stand in a log, or a new one.
func (s *Server) idOf(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' }) {
		return s.newID()
	}
	return id
}

// refuse answers with what went wrong, and returns the status.
func (c *call) refuse(err error) int {
	f := *faultOf(err)
	if c.way == byREST && f.kind == invalid {
		f.status = http.StatusBadRequest // as the protocol has it
	}
	if f.status == http.StatusTooManyRequests {
		c.s.refused.Add(1)
	}
	c.fail(&f)
	return f.status
}

// try calls f, for predictions within the limit of requests.
func (c *call) try(who access, f func(c *call) error) (err error) {
	if who == prediction {
		if err := c.s.places.take(c.from); err != nil {
			return err
		}
		defer c.s.places.give(c.from)
	}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			c.s.Log.Error("internal error", "id", c.id, "error", p, "stack", string(debug.Stack()))
			err = failf(internal, "internal error")
		}
	}()
	return f(c)
}

// check reports who may not call.
func (c *call) check(who access) error {
	s, r := c.s, c.r
	if s.guardHTTP && !local(r.Host) {
		return failf(forbidden, "this server answers at this machine only, not as %.80q; start it with a token to use other names", r.Host)
	}
	if who == open {
		return nil
	}
	if err := s.cross.Check(r); err != nil {
		return failf(forbidden, "pages of other sites cannot use this server")
	}
	if s.Token == "" {
		c.conn.trust()
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !s.right(token) {
		c.w.Header().Set("WWW-Authenticate", "Bearer")
		return failf(unauthorized, "a token is needed: send the header Authorization: Bearer TOKEN")
	}
	c.conn.trust()
	return nil
}

// local reports whether a host names this machine.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// find finds the model that the path names.
func (c *call) find() (err error) {
	c.model, err = c.s.models.find(c.r.PathValue("name"), c.r.PathValue("version"))
	return err
}

// head returns the header of the answer, which is about to be sent. At the end it says so:
// connections that are idle are closed soon.
func (c *call) head() http.Header {
	h := c.w.Header()
	if c.s.ending.Load() {
		h["Connection"] = []string{"close"}
	}
	return h
}

// write answers with JSON.
func (c *call) write(text []byte) error { return c.writeAs("application/json", text) }

func (c *call) writeAs(kind string, text []byte) error {
	h := c.head()
	h["Content-Type"] = []string{kind}
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	c.w.Write(text) // a client that went away is not an error of the server
	return nil
}

func (c *call) writeJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.write(append(text, '\n'))
}

// unread reports whether too much of the body is left to be read for the next request's
// sake. What is left otherwise has a moment to come.
func (c *call) unread() bool {
	if c.read || c.r.ContentLength == 0 {
		return false
	}
	if c.r.ContentLength < 0 || c.r.ContentLength > smallBody {
		return true
	}
	http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(time.Second)) // servers of others may have none
	return false
}

// fail answers with an error.
func (c *call) fail(f *fault) {
	h := c.head()
	if f.kind == unauthorized || f.kind == forbidden || c.unread() {
		h.Set("Connection", "close") // strangers hold no connections
	}
	if f.status == http.StatusTooManyRequests || f.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	text, _ := json.Marshal(map[string]string{"error": f.text})
	h["Content-Type"] = []string{"application/json"}
	c.w.WriteHeader(f.status)
	c.w.Write(append(text, '\n'))
}

// log logs a request: all if asked to, otherwise faults of the server.
func (c *call) log(code int, err error, begin time.Time) {
	level := slog.LevelInfo
	switch {
	case code == http.StatusInternalServerError:
		level = slog.LevelError
	case code == http.StatusTooManyRequests:
		skipped, ok := c.s.quiet.now(begin)
		if ok {
			c.s.Log.Warn("requests are refused", "error", err, "refused_before", skipped)
		}
		fallthrough
	default:
		if !c.s.LogRequests {
			return
		}
	}
	attrs := []slog.Attr{slog.String("id", c.id), slog.String("method", c.r.Method), slog.String("path", c.r.URL.Path), slog.Int("status", code),
		slog.String("from", c.r.RemoteAddr), slog.Duration("took", time.Since(begin))}
	if c.model != nil {
		attrs = append(attrs, slog.String("model", c.model.Name), slog.String("version", c.model.Version), slog.Int("rows", c.rows))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	c.s.Log.LogAttrs(c.r.Context(), level, "request", attrs...)
}
