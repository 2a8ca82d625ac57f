// The kernels of chains with one broad layer that run beside many others, on Hopper.
#include "chain_links.h"
#include "likelihood.h"
#include "crowd_pass.h"
#include "crowd_learn.h"

KERNEL_CHAIN(crowd_three, CrowdPass, CROWD_THREADS, 1) { run_crowd<false, false>(c); }
KERNEL_CHAIN(crowd_exact, CrowdPass, CROWD_THREADS, 1) { run_crowd<true, false>(c); }
// The same for networks with one input, without variance.
KERNEL_CHAIN(crowd_three_one, CrowdPass, CROWD_THREADS, 1) { run_crowd<false, true>(c); }
KERNEL_CHAIN(crowd_exact_one, CrowdPass, CROWD_THREADS, 1) { run_crowd<true, true>(c); }
