package main

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// TestOnGPU holds which part of a run counts as one of the GPU.
func TestOnGPU(t *testing.T) {
	gpu, cpu := driver.EngineGPU, driver.EngineCPU
	for _, tt := range []struct {
		what string
		ran  []driver.SegmentStats
		want float64
	}{
		{"nothing", nil, 0},
		{"all on the GPU", []driver.SegmentStats{{Engine: gpu, Commands: 2}}, 1},
		{"all on the host", []driver.SegmentStats{{Engine: cpu, Commands: 2}}, 0},
		{"a fourth of the rows", []driver.SegmentStats{
			{Engine: gpu, Commands: 2, Of: "lineorder", Until: 250},
			{Engine: cpu, Commands: 2, Of: "lineorder", From: 250, Until: 1000}}, 0.25},
	} {
		if got := onGPU(driver.Stats{Segments: tt.ran}); got != tt.want {
			t.Errorf("%s: %v of it is on the GPU, not %v", tt.what, got, tt.want)
		}
	}
}
