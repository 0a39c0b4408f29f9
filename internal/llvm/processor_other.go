//go:build !amd64

package llvm

// processor returns "": other processors are not identified.
func processor() string { return "" }
