// The kernel of formulas for functions that package gpu writes in PTX and appends to the
// text of this one.
#define COMPILED
#include "formula.cu"
