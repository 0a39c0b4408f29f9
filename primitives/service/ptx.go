package service

import _ "embed"

//go:embed service.ptx
var ptx string

// PTX returns the kernels, for sm_80 and later.
func PTX() string { return ptx }
