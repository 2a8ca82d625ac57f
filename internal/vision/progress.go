package vision

import "utvi/internal/tabular"

// progress tells how much of a fit is done, in steps of a member.
type progress struct {
	tell  func(tabular.Progress)
	state tabular.Progress
}

// foresee counts the work of the whole fit.
func (r *run) foresee() {
	total := r.Network.Ensemble * r.Network.Steps
	if len(r.ways) > 1 {
		total += len(r.ways) * r.trialSteps
	}
	r.state.Total = float64(total)
}

// begin opens a stage.
func (p *progress) begin(stage string, jobs int) {
	p.state.Stage = stage
	p.state.Jobs = jobs
	p.state.Running = 0
}

// advance counts steps of a job; found says that a checkpoint held them, as the job begins.
func (p *progress) advance(j *job, t *trained, steps float64, found bool) {
	p.state.Done += steps
	if found {
		p.state.Found += steps
		p.state.Running++
	}
	p.state.Training = &tabular.Training{Name: j.name, Candidate: j.candidate, Step: t.step, Steps: j.steps, Curve: t.curve}
	if p.tell != nil {
		p.tell(p.state)
	}
}
