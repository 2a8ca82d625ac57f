package predict

import (
	"runtime"

	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/calibrate"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/model"
	"utvi/table"
)

// A session is what one prediction at a time needs: networks bound to scratch, room
// for inputs and distributions.
type session struct {
	m    *Model
	tier int
	net  *tabular.Predictor
	head *model.Head // for a network without a table

	x       gauss.Batch[float32]
	out     *model.Predictions // of the rows last predicted
	strange []float32          // their ood; nil: not known
	dists   *tabular.Predictions
	ends    *ends // of intervals; nil: the CPU finds each

	mixture dist.Mixture
	bent    dist.Warped
	counts  dist.Counts
	whole   dist.Whole
	within  dist.Bounded
	scaled  dist.Affine
	class   dist.Categorical
	scratch calibrate.Scratch
	numbers []Number
	unread  []bool
	batch   Batch
}

// tiers are the most rows of a session: a few rows, and the pieces that a server cuts requests into,
// have their own, since room for many takes long to make and to keep.
var tiers = [3]int{32, 256, table.MaxRows}

// tierOf is the tier of a session for some rows: of those that predict as many at a time, the first.
func (m *Model) tierOf(rows int) int {
	t := 0
	for t < len(tiers)-1 && rows > tiers[t] {
		t++
	}
	for t > 0 && m.most(t-1) == m.most(t) {
		t--
	}
	return t
}

// most is how many rows a session of a tier predicts at a time: fewer of images than of other rows,
// because each has as many inputs as pixels, and fewer where a row has many outputs.
func (m *Model) most(tier int) int {
	const inputs, outputs = 1 << 20, 1 << 16 // of all rows
	pictures := m.Schema != nil && m.Schema.Pictures()
	if m.Schema != nil && !pictures && tier == len(tiers)-1 {
		return tiers[tier] // tables come in chunks of so many
	}
	most := min(tiers[tier], max(1, outputs/max(1, len(m.targets)+len(m.classes))))
	if pictures {
		most = min(most, max(tiers[0], inputs/m.Inputs()))
	}
	return most
}

// keepReady makes room for sessions that wait for their next use.
func (m *Model) keepReady() {
	for i := range m.ready {
		m.ready[i] = make(chan *session, 2*runtime.GOMAXPROCS(0))
	}
}

// session returns one that is ready, or makes one.
func (m *Model) session(rows int) *session {
	tier := m.tierOf(rows)
	select {
	case s := <-m.ready[tier]:
		return s
	default:
	}
	s := &session{m: m, tier: tier, class: make(dist.Categorical, len(m.classes)), numbers: make([]Number, len(m.targets))}
	if m.Net != nil {
		s.net = m.Net.NewPredictor(nil, m.most(tier))
		s.ends = m.newEnds(m.most(tier))
	} else {
		head, err := m.Networks.NewHead(m.most(tier))
		if err != nil {
			panic("predict: a model that passed its checks cannot predict")
		}
		s.head = head
	}
	return s
}

// release keeps the session for the next one who needs it, unless many wait already.
func (s *session) release() {
	s.batch = Batch{}
	select {
	case s.m.ready[s.tier] <- s:
	default:
	}
}

// grow makes room for the inputs of some rows.
func (s *session) grow(rows, width int, uncertain bool) gauss.Batch[float32] {
	n := rows * width
	if n > cap(s.x.Mean) || uncertain && n > cap(s.x.Var) {
		n := max(n, min(s.m.most(s.tier), 4*rows)*width)
		s.x.Mean = make([]float32, n)
		s.x.Var = nil
		if uncertain {
			s.x.Var = make([]float32, n)
		}
	}
	x := gauss.Batch[float32]{Rows: rows, Width: width, Mean: s.x.Mean[:n]}
	if uncertain {
		x.Var = s.x.Var[:n]
	}
	return x
}

// encode reads the inputs of a chunk and predicts its rows.
func (s *session) encode(e *schema.Encoder, c *table.Chunk) error {
	x := s.grow(c.Rows(), e.Width(), s.m.Schema.Uncertain())
	if err := e.Inputs(c, x); err != nil {
		return err
	}
	return s.predict(x)
}

// predict carries rows through the networks.
func (s *session) predict(x gauss.Batch[float32]) (err error) {
	if s.net == nil {
		s.out, err = s.head.TryPredict(x)
	} else {
		s.dists, err = s.net.TryPredict(x)
		if err == nil {
			s.out, s.strange = s.dists.Predictions, s.dists.OOD
		}
	}
	if s.ends != nil {
		s.ends.level = 0
	}
	s.batch.x = x
	s.batch.row = -1
	s.batch.judged = -1
	return err
}
