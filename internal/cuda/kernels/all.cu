// All kernels for every card since compute capability 7.5.
#include "rows.cu"
#include "thin.cu"
#include "product.cu"
#include "conv.cu"
#include "optim.cu"
#include "formula.cu"
#include "emitters.cu"
#include "quantiles.cu"
