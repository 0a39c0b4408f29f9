package suite

import "slices"

// Published holds the times of another system for a suite, in milliseconds with
// the data in memory, as a paper or a project states them.
type Published struct {
	System  string // and the machine, short enough for a column
	Source  string // where the figures are from, and how they were taken
	Suite   string
	Scale   float64
	Queries []float64 // in the suite's order
	// Sum is the time of all queries, if the time of each is not known.
	Sum float64
}

// PublishedFor returns the published times of a suite at a scale factor.
func PublishedFor(suite string, scale float64) []Published {
	return slices.DeleteFunc(slices.Clone(published), func(p Published) bool {
		return p.Suite != suite || p.Scale != scale
	})
}

// PublishedScales lists the scale factors of a suite that have published times.
func PublishedScales(suite string) []float64 {
	var out []float64
	for _, p := range published {
		if p.Suite == suite {
			out = append(out, p.Scale)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Of returns the time of the i-th query of the suite, 0 if it is not known.
func (p Published) Of(i int) float64 {
	if i < len(p.Queries) {
		return p.Queries[i]
	}
	return 0
}

// Total returns the time of all queries.
func (p Published) Total() float64 {
	sum := p.Sum
	for _, q := range p.Queries {
		sum += q
	}
	return sum
}

var published = []Published{
	{
		System: "Sirius, GH200", Suite: "tpch", Scale: 100,
		Source: "Sirius, performance plot of June 2025, data cached on the GPU, read off the plot within 3 ms",
		Queries: []float64{87, 23, 30, 35, 34, 9, 27, 44, 197, 149, 14, 34, 158, 8, 18, 32, 79, 218,
			21, 31, 157, 22},
	},
	{
		System: "Sirius 2026-09", Suite: "tpch", Scale: 100,
		Source: "Sirius, chunk-skipping benchmark of September 2026, data pinned on a GPU that is not named, best of three",
		Queries: []float64{89.4, 33.9, 32.2, 26.4, 38.6, 12.9, 43.5, 38.7, 91.5, 34.9, 17.9, 26.5,
			17.1, 17.1, 17.8, 46.4, 33.9, 133.8,
			37.6, 39.0, 97.4, 21.6},
	},
	{
		System: "TQP++, H100", Suite: "tpch", Scale: 100, Sum: 700,
		Source: "TQP++, abstract: under 0.7 s for all queries",
	},
	{
		System: "DuckDB 1.4.3, 16 cores", Suite: "tpch", Scale: 10,
		Source: "DuckDB 1.4.3 with 16 threads on the host of an H200, tables in memory, best of three",
		Queries: []float64{164, 39, 85, 121, 99, 22, 84, 126, 316, 185, 21, 102, 252, 55, 43, 84,
			95, 230, 183, 79, 383, 74},
	},
	{
		System: "Crystal, H200", Suite: "ssb", Scale: 20,
		Source: "Crystal's kernels as published, on an H200 over uniform columns, with builds of hash tables, best of twelve",
		Queries: []float64{0.592, 0.590, 0.598, 0.897, 0.789, 0.806, 2.064, 1.047, 0.987, 0.999,
			2.568, 1.420, 1.260},
	},
	{
		System: "Crystal, H20", Suite: "ssb", Scale: 20,
		Source: "Crystal on an H20, a third party's log, kernels alone",
		Queries: []float64{0.522, 0.480, 0.474, 1.004, 0.852, 1.021, 2.458, 1.291, 1.159, 1.152,
			2.722, 2.588, 1.871},
	},
	{
		System: "Crystal, H200", Suite: "ssb", Scale: 100,
		Source: "Crystal's kernels as published, on an H200 over uniform columns, with builds of hash tables, best of twelve",
		Queries: []float64{2.91, 2.91, 2.91, 6.54, 5.80, 5.73, 10.94, 5.22, 4.92, 4.92, 14.19, 7.64,
			5.79},
	},
}
