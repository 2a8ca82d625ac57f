package gpu

// Which kernel takes rows through an operation, and how many rows a block has.

// rowsPerBlock is how many rows a block of the kernel rows takes through dense layers;
// fewRows is how many without, where nothing is gained by more.
const rowsPerBlock, fewRows = 8, 2

// rowThreads is how many threads such a block has, and mostOps how many operations it
// takes.
const rowThreads, mostOps = 512, 24

// thinThreads is how many threads a block of the kernel thin has, which runs operations
// that need few registers; thinRows is how many rows it takes, and mostThin the most
// inputs or outputs of a dense layer there.
const thinThreads, thinRows, mostThin = 256, 4, 16

// sideBySideRows is how many rows it takes where many networks run side by side.
const sideBySideRows = 16

// thin reports whether an operation runs in the kernel thin.
func (o *op) thin() bool {
	if o.addsVariances() {
		return false
	}
	switch o.Kind {
	case opInput, opScore, opNoise, opNoiseBack, opScale, opScaleBack, opMultiply, opMultiplyBack, opDropout, opDropoutBack:
		return true
	case opApply:
		return o.F.Op != 0 && o.Tape == 0
	case opApplyBack:
		return o.F.Op != 0 && o.F.Rule != learned && o.Tape == 0
	case opDense, opDenseBack:
		return min(o.In, o.Out) <= mostThin && o.Tape == 0
	}
	return false
}

// rare reports whether an operation runs in the kernels for all operations only: few
// networks have it, and the driver takes long to compile these kernels.
func (o *op) rare() bool {
	switch o.Kind {
	case opInput, opApply, opApplyBack, opScore, opAdd, opPiecewise, opPiecewiseBack, opPeriodic, opPeriodicBack, opAppend, opAppendBack,
		opLayerNorm, opLayerNormBack, opEmbed, opEmbedBack, opNoise, opNoiseBack, opScale, opScaleBack, opMultiply, opMultiplyBack,
		opDropout, opDropoutBack, opSenseAdd:
		return false
	case opDense, opDenseBack:
		return o.Tape != 0 || o.addsVariances()
	}
	return true
}

// multiplies reports whether the operation has a matrix product, which gains by more rows.
func (o *op) multiplies() bool {
	switch o.Kind {
	case opDense, opDenseBack, opSenseDense, opSenseDenseBack:
		return true
	}
	return false
}
