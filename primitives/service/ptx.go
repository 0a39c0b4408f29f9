package service

import _ "embed"

//go:embed service.ptx
var ptx string

//go:embed sort.ptx
var sortPTX string

// PTX returns all kernels but those that sort, for sm_80 and later. The driver
// compiles it in about a fifth of a second.
func PTX() string { return ptx }

// SortPTX returns the kernels that sort.
func SortPTX() string { return sortPTX }
