// Package fn lists the named nonlinearities, one small file each. Each
// constructor returns a fresh *moment.Func that the caller may change; Named
// finds a function again by the Name that a saved model carries.
package fn
