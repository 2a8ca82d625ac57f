// Package attack holds tests that attack a running utvi serve: its own process, whose
// resident memory is read while strangers and clients with a token send it everything that
// should not be sent. UTVI_ATTACKS=1 runs every attack once, and UTVI_ATTACKS=10m a mix of
// all for so long. On a machine that does nothing else, UTVI_ATTACKS_LIMIT=1s is how long the
// health may take to answer, and full service to be back; otherwise only hanging fails.
package attack
