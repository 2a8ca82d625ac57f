// Package fn lists the named nonlinearities, one small file each. Each constructor
// returns a new *moment.Func that the caller may change. Named returns a function by
// the Name that a model file stores.
package fn
