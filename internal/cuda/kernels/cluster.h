// Blocks that run together and reach into one another's shared memory: a cluster, from
// compute capability 9.0 on.
#pragma once
#include "near.h"

#ifndef EMULATED
DEVICE int cluster_rank() {
	uint32 r;
	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
	return (int)r;
}
DEVICE int cluster_size() {
	uint32 n;
	asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
	return (int)n;
}
// All threads of a cluster arrive; behind the wait, they see what others wrote before.
DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// cluster_present arrives where nobody needs what was written before: it does not wait for that.
DEVICE void cluster_present() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
// A Peer is a place in the shared memory of a block of the cluster.
typedef uint32 Peer;
DEVICE Peer peer(const float* mine, int rank) {
	uint32 to;
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(mine)), "r"(rank));
	return to;
}
DEVICE void put(Peer to, int at, float x) { asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to + 4 * at), "f"(x) : "memory"); }
DEVICE void put(Peer to, int at, float x, float y) {
	asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(to + 4 * at), "f"(x), "f"(y) : "memory");
}
#else
DEVICE int cluster_rank() { return emulated::rank; }
DEVICE int cluster_size() { return emulated::cluster; }
DEVICE void cluster_arrive() {}
DEVICE void cluster_present() {}
DEVICE void cluster_wait() { emulated::cluster_barrier(); }
typedef float* Peer;
DEVICE Peer peer(const float* mine, int rank) { return (float*)mine + (rank - emulated::rank) * (227 * 256); }
DEVICE void put(Peer to, int at, float x) { to[at] = x; }
DEVICE void put(Peer to, int at, float x, float y) { to[at] = x, to[at + 1] = y; }
#endif
