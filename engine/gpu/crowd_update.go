package gpu

import "utvi/internal/cuda"

// The end of a step of one of many networks is one launch (kernels/crowd_update.h): the work of a
// cluster of updateTeam blocks, each with at most updateFew or updateMost warps and updateRoom bytes
// of shared memory.
const updateTeam, updateFew, updateMost, updateRoom = 8, 9, 12, 1552

// updateSlack is how many numbers behind the last parameter a warp may read: a chunk has so many.
const updateSlack = 256

// updateCrowd queues the end of a step. A warp has a chunk.
func (t *trainer) updateCrowd() error {
	kernel, warps := t.kernels.crowds.update, tiles(len(t.chunks), updateTeam)
	if warps > updateFew {
		kernel = t.kernels.crowds.updateLarge
	}
	return launch(t.weights, kernel.Together(updateTeam), cuda.Grid{X: updateTeam}, 32*warps, &t.chain.update)
}
