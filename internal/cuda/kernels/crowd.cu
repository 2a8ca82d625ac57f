// The kernels of chains with one broad layer that run beside many others, on Hopper.
#include "chain_links.h"
#include "likelihood.h"
#include "chain_crowd.h"
#include "crowd_gradients.h"
#include "chain_update.h"

KERNEL_CHAIN(crowd_three, Chain, THREADS, 1) { run_crowd<false>(c); }
KERNEL_CHAIN(crowd_exact, Chain, THREADS, 1) { run_crowd<true>(c); }

// crowd_update is chain_update with fewer registers, so that more blocks hide each other's waiting.
KERNEL_CHAIN(crowd_update, ChainUpdate, OPT, 3) { update_chain(c); }
