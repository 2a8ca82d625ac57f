package serve

import (
	"fmt"
	"math"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"utvi/internal/answer"
)

// metrics answers GET /metrics in the text format of Prometheus.
func (c *call) metrics() error {
	return c.writeAs("text/plain; version=0.0.4; charset=utf-8", []byte(c.s.metricsText()))
}

// exposition writes metrics. Names of models and versions are plain: nothing needs escapes.
type exposition struct{ strings.Builder }

func (e *exposition) family(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (e *exposition) sample(name, labels string, v float64) {
	e.WriteString(name)
	if labels != "" {
		e.WriteString("{" + labels + "}")
	}
	e.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

func (e *exposition) histogram(name, labels string, h *histogram, bounds []float64, unit float64) {
	var n uint64
	for i := range len(bounds) + 1 {
		n += h.bins[i].Load()
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i]
		}
		e.sample(name+"_bucket", labels+`,le="`+strconv.FormatFloat(bound, 'g', -1, 64)+`"`, float64(n))
	}
	e.sample(name+"_sum", labels, float64(h.sum.Load())*unit)
	e.sample(name+"_count", labels, float64(n))
}

func (s *Server) metricsText() string {
	e := &exposition{}
	e.family("utvi_build_info", "gauge", "The version of the server.")
	e.sample("utvi_build_info", `version=`+answer.Quote(version()), 1)
	s.modelMetrics(e)
	s.requestMetrics(e)
	processMetrics(e, s.begun)
	return e.String()
}

// modelMetrics are those that each model has.
func (s *Server) modelMetrics(e *exposition) {
	each := func(f func(m *served, labels string)) {
		s.models.each(func(m *served) { f(m, fmt.Sprintf(`model="%s",version="%s"`, m.Name, m.Version)) })
	}
	one := func(name, kind, help string, f func(m *served) float64) {
		e.family(name, kind, help)
		each(func(m *served, labels string) { e.sample(name, labels, f(m)) })
	}
	counter := func(name, help string, f func(m *served) *atomic.Uint64) {
		one(name, "counter", help, func(m *served) float64 { return float64(f(m).Load()) })
	}
	e.family("utvi_requests_total", "counter", "Requests for predictions, by protocol and status of HTTP.")
	each(func(m *served, labels string) {
		for by := byJSON; by < ways; by++ {
			for i, code := range statuses {
				if n := m.requests[by][i].Load(); n > 0 || code == 200 {
					e.sample("utvi_requests_total", fmt.Sprintf(`%s,protocol="%s",code="%d"`, labels, wayNames[by], code), float64(n))
				}
			}
		}
	})
	e.family("utvi_request_duration_seconds", "histogram", "Time from the header of a request to its answer.")
	each(func(m *served, labels string) {
		for by := byJSON; by < ways; by++ {
			e.histogram("utvi_request_duration_seconds", labels+`,protocol="`+wayNames[by]+`"`, &m.took[by], seconds[:], 1e-9)
		}
	})
	counter("utvi_inferences_total", "Rows that were predicted.", func(m *served) *atomic.Uint64 { return &m.inferences })
	e.family("utvi_execution_rows", "histogram", "Rows of each execution of the networks; its count is the number of executions.")
	each(func(m *served, labels string) {
		e.histogram("utvi_execution_rows", labels, &m.executions, rowsBounds[:], 1)
	})
	one("utvi_queue_jobs", "gauge", "Requests, or pieces of them, that wait for the networks.", func(m *served) float64 {
		jobs, _ := m.now.Load().queue.depth()
		return float64(jobs)
	})
	one("utvi_queue_rows", "gauge", "Rows that wait for the networks.", func(m *served) float64 {
		_, rows := m.now.Load().queue.depth()
		return float64(rows)
	})
	counter("utvi_model_reloads_total", "Times that a changed file was loaded.", func(m *served) *atomic.Uint64 { return &m.reloads })
	counter("utvi_model_reload_failures_total", "Times that a changed file could not be loaded, so that the model before it stayed.", func(m *served) *atomic.Uint64 { return &m.failures })
	one("utvi_model_loaded_timestamp_seconds", "gauge", "When the model was loaded.", func(m *served) float64 {
		return float64(m.now.Load().since.UnixMilli()) / 1000
	})
}

// requestMetrics are those of the requests that share the server.
func (s *Server) requestMetrics(e *exposition) {
	e.family("utvi_requests_active", "gauge", "Requests for predictions in progress.")
	e.sample("utvi_requests_active", "", float64(s.places.now.Load()))
	e.family("utvi_requests_refused_total", "counter", "Requests that were refused because the server was busy.")
	e.sample("utvi_requests_refused_total", "", float64(s.refused.Load()))
	e.family("utvi_requests_memory_bytes", "gauge", "Memory that requests in progress take, about.")
	e.sample("utvi_requests_memory_bytes", "", float64(s.memory.all-s.memory.left.Load()))
}

func processMetrics(e *exposition, begun time.Time) {
	process := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(process)
	e.family("go_memory_bytes", "gauge", "Memory that the Go runtime has mapped.")
	e.sample("go_memory_bytes", "", float64(process[0].Value.Uint64()))
	e.family("go_goroutines", "gauge", "Goroutines that exist.")
	e.sample("go_goroutines", "", float64(process[1].Value.Uint64()))
	e.family("process_start_time_seconds", "gauge", "When the server was started.")
	e.sample("process_start_time_seconds", "", float64(begun.UnixMilli())/1000)
}
