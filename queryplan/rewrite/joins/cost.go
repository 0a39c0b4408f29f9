package joins

// Costs of handling one tuple, relative to a probe of an index that the
// first-level cache holds. They are measured on the cpu engine, over TPC-H.
const (
	scanCost  = 0.1 // reading it from a stored column
	EmitCost  = 0.5 // a tuple of a join's result
	StoreCost = 1   // storing it until all are there
	buildCost = 1   // inserting it in an index of unique keys, without the probe for its place
	// multiCost is inserting it in an index whose keys repeat and are counted
	// first.
	multiCost = 3
	// sortCost is putting it in the order of a trie, and the trie's levels.
	// Measured on both host engines, over the triangles of sparse graphs.
	sortCost = 9
	// numberedCost is the factor for a probe of a table by a column that counts
	// its rows, compared with one of an array of the size of the columns read.
	numberedCost = 0.7
	// bitCost is a probe of a set of bits that the cache holds.
	bitCost = 0.7
	// orderedCost is a probe with keys that come in the order of the index, or
	// the insertion of such a key. orderedMultiCost is the insertion if keys
	// repeat.
	orderedCost      = 0.5
	orderedMultiCost = 1.5
	// hashCost is the factor for a probe of a hash table, compared with an
	// array.
	hashCost = 1.2
	// keptCost is the cost of an index that a loop finds built.
	keptCost = 0.001
	// wholeCost is the factor for a join that reads more than the delta in
	// every round. The sizes of a recursion are rough estimates, and a round in
	// which the delta is nearly empty still reads the other side whole.
	wholeCost = 10
)

// gathered is the number of bytes that are read of a row that was found.
const gathered = 2

// maxBits is the largest set of bits, in bytes, that a cache holds.
const maxBits = 1 << 20

// touchCost returns the cost of a probe of a table of a size in bytes.
func touchCost(bytes float64) float64 {
	switch {
	case bytes <= 64<<10:
		return 1
	case bytes <= 512<<10:
		return 2
	case bytes <= 4<<20:
		return 3
	case bytes <= 64<<20:
		return 5
	}
	return 8
}

// IndexShape determines the cost of an index.
type IndexShape struct {
	Rows    float64
	Columns int     // of its key
	Size    float64 // number of keys in the ranges of the columns; 0 if unknown
	Probes  float64 // how often a key is looked up
	exists  bool    // probes only ask whether there is a key
	Unique  bool    // keys do not repeat
	// For a key of one column:
	InOrder  bool // probes come in its order
	sorted   bool // rows do
	Numbered bool // it counts the rows
}

// Cost returns the cost of inserting a row, and that of one probe. The engines
// address dense keys directly and hash the others (package runtime/layout). A
// column that numbers the rows needs no index.
func (x IndexShape) Cost() (insert, probe float64) {
	slot, row := 4.0, 32.0 // bytes
	switch {
	case x.exists:
		slot, row = 1.0/8, 16
	case !x.Unique:
		slot = 8
	}
	single := x.Columns == 1
	dense := max(row*x.Rows, 32<<10)
	if x.Probes >= x.Size {
		dense = max(dense, 4<<20)
	}
	direct := x.Columns > 0 && x.Size > 0 && slot*x.Size <= dense
	switch {
	case x.Columns == 0:
		probe = bitCost
	case single && x.Numbered:
		probe = numberedCost * touchCost(gathered*x.Rows)
	case direct && x.exists && slot*x.Size <= maxBits:
		probe = bitCost
	case direct:
		probe = touchCost(slot * x.Size)
	default:
		probe = touchCost(row*x.Rows) * hashCost
	}
	insert = buildCost + probe
	if !x.exists && !x.Unique {
		insert = multiCost + probe
	}
	if single && x.InOrder && (direct || x.Numbered) {
		probe = min(probe, orderedCost)
	}
	switch {
	case single && x.Numbered:
		insert = 0
	case single && direct && x.sorted && x.Unique:
		insert = orderedCost
	case single && direct && x.sorted:
		insert = orderedMultiCost
	}
	return insert, probe
}

// Limits, which tests change so that a filter pays with small facts.
var (
	// LeastProbes is the least number of expected probes of an index for which
	// a filter in front of it is worth its cost.
	LeastProbes = float64(1 << 18)
	// LeastGain is the least gain for each probe, on the scale of the costs.
	LeastGain = 1.0
)

// FilterGain returns the cost that a set of bits saves for each probe of an
// index. rows have the keys, room is the number of possible keys, probes the
// number of probes, probe the cost of one, and kept the share that finds
// something.
func FilterGain(rows, room, probes, probe, kept float64) float64 {
	if room == 0 || room > 8*maxBits {
		return 0
	}
	insert, test := IndexShape{Rows: rows, Columns: 1, Size: room, Probes: probes,
		exists: true}.Cost()
	return probe*(1-kept) - test - insert*rows/probes
}
