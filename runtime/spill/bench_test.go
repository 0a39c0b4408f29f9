package spill

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
)

// BenchmarkRounds runs recursions that no column decomposes in a tenth of the
// memory that they take.
func BenchmarkRounds(b *testing.B) {
	for _, c := range []struct {
		name         string
		text         string
		edges, nodes int
	}{
		{"same generation", tenths[2].text, 4600, 3000},
		{"closure of itself", tenths[1].text, 1200, 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			facts := graph(c.edges, c.nodes)(rand.New(rand.NewPCG(1, 2)))
			plan, db := enginetest.Stored(b, c.text, facts)
			req := &runtime.Request{Plan: plan, Facts: db}
			want, err := portable.New().Run(context.Background(), req)
			if err != nil {
				b.Fatal(err)
			}
			req.Memory = want.Peak / 10
			for b.Loop() {
				got, err := Run(context.Background(), portable.New(), req,
					Options{Folder: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(got.Spill.Read+got.Spill.Written)/1e6, "MB")
				b.ReportMetric(float64(got.Spill.Boxes), "boxes")
			}
		})
	}
}
