package gpu

import "utvi/internal/cuda"

// Where many networks run side by side, chains with one broad layer have kernels that take
// more rows at a time (kernels/chain_crowd.h): with many networks it matters how many
// instructions a row takes, and not when the first row is done. A training that is one of
// many by its job always runs them, also if no other happens to run, and others never do:
// so its bits depend on its job, and not on time or on those beside it.

// crowdFrom is how many trainings a job must name for its network to be one of many.
const crowdFrom = 8

// crowdRows is how many rows such a block takes at a time, crowdMost the most inputs and
// outputs of the broad layer, and crowdSignals how many numbers of signals the rows have.
const crowdRows, crowdMost, crowdSignals = 32, 128, 5 * 16 * 260

// crowdSide is the side of a tile of weights, crowdDeep the most rows of a part, and crowdShared
// the shared memory of a tile.
const crowdSide, crowdDeep, crowdShared = 64, 128, 4 * (2*128*72 + 4*8*260 + 256)

// crowdKernels are those of chains beside others.
type crowdKernels struct{ three, exact, gradients, thin, update cuda.Kernel }

// crowd lays out the launch of a chain that is one of many; false: it has no such launch.
func (w *weights) crowd(c *chain) (args many[chainArgs], ok bool) {
	a := c.args.One
	fits := func(n int32) bool { return n%32 == 0 && n <= crowdMost }
	if !w.counted || w.kernels.crowds == nil || a.Count != 3 || a.Links[0].In > mostThin || !fits(a.Links[1].In) || !fits(a.Links[1].Out) {
		return args, false
	}
	at := a.Scratch // the weights are before it
	take := func(n int32) int32 { at += (n + 3) / 4 * 4; return at - (n+3)/4*4 }
	a.Links[0].InAt, a.AtY, a.Signals = take(2*crowdRows*a.Links[0].In), take(crowdRows*a.Targets), take(crowdSignals)
	args.One = a
	return args, 4*int(at) <= w.device.Shared-chainOverhead
}

// runCrowd records the launch of a chain beside others.
func (w *weights) runCrowd(c *chain, args many[chainArgs], rows int) error {
	k := w.kernels.crowds
	spread := spreading{unit: 1, groups: tiles(rows, crowdRows), most: w.device.Processors}
	if err := launchBehind(w, pick(c.kernel == w.kernels.chains.exact, k.exact, k.three), cuda.Grid{X: spread.blocks(1)}, rowThreads, &args); err != nil {
		return err
	}
	if w.record != nil {
		(*w.record)[len(*w.record)-1].spread = spread
	}
	return nil
}

// crowdGradients records the gradients of a chain beside others: those of the broad layer,
// then all else. False: it has no such launches.
func (t *trainer) crowdGradients() (ok bool, err error) {
	g, k := t.chain.gradients.One, t.kernels.crowds
	if _, ok := t.crowd(t.pass.chain); !ok || g.Split > crowdDeep {
		return false, nil
	}
	broad, thin := &many[chainGradients]{One: g}, &many[chainGradients]{One: g}
	blocks := broad.One.number(func(l *slope) int { return tiles(int(l.In), crowdSide) * tiles(int(l.Out), crowdSide) * int(g.Parts) }, nil)
	if err := launchBehind(t.weights, k.gradients, cuda.Grid{X: blocks}, 256, broad); err != nil {
		return true, err
	}
	blocks = thin.One.number(nil, func(l *slope) int { return tiles(int((l.In+1)*l.Out), chainSide) }) // each takes all parts
	return true, launchBehind(t.weights, k.thin, cuda.Grid{X: blocks + int(g.Noises) + 1}, 256, thin)
}

// number gives the broad and the thin links their blocks, and returns how many blocks there are.
func (g *chainGradients) number(broad, thin func(l *slope) int) int {
	g.Rest = 0
	for i := range g.Links[:g.Count] {
		l, count := &g.Links[i], broad
		if min(l.In, l.Out) <= mostThin {
			count = thin
		}
		if l.Block = g.Rest; count != nil {
			g.Rest += int32(count(l))
		}
	}
	return int(g.Rest)
}
