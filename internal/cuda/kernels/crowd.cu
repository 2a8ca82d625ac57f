// The kernels of chains with one broad layer that run beside many others, on Hopper.
#include "chain_links.h"
#include "likelihood.h"
#include "crowd_pass.h"
#include "crowd_learn.h"

KERNEL_CHAIN(crowd_three, CrowdPass, CROWD_THREADS, 1) { run_crowd<false>(c); }
KERNEL_CHAIN(crowd_exact, CrowdPass, CROWD_THREADS, 1) { run_crowd<true>(c); }
