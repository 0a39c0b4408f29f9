package main

import (
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/cuda/gorgonia"
)

// The script build.sh lays this file over redfox-selftest, which so takes this
// driver.
func init() { driver.Use(gorgonia.Open) }
