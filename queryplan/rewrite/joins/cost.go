package joins

// Costs of handling one tuple, relative to a probe of an index that the first-level
// cache holds. They are measured on the cpu engine, over TPC-H.
const (
	scanCost  = 0.1 // reading it from a stored column
	EmitCost  = 0.5 // a tuple of a join's result
	StoreCost = 1   // keeping it until all are there
	buildCost = 1   // putting it in an index of keys that do not repeat, beside a probe of that
	// multiCost is putting it in an index whose keys repeat: these are counted first.
	multiCost = 3
	// numberedCost is how much cheaper a probe of a table by a column that counts its rows
	// is than one of an array as large as what is read of it.
	numberedCost = 0.7
	// bitCost is a probe of a set of bits that the cache holds.
	bitCost = 0.7
	// orderedCost is a probe with keys that come in the order of the index, or putting a
	// key in it; orderedMultiCost is the latter if keys repeat.
	orderedCost      = 0.5
	orderedMultiCost = 1.5
	// hashCost is how much dearer a probe of a hash table is than one of an array.
	hashCost = 1.2
	// keptCost stands in for what an index costs where a loop finds it built.
	keptCost = 0.001
)

// gathered is the bytes that are read of a row that has been found.
const gathered = 2

// maxBits is the size in bytes of a set of bits up to which a cache holds it.
const maxBits = 1 << 20

// touchCost is a probe of a table of so many bytes.
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

// IndexShape is what an index costs depends on.
type IndexShape struct {
	Rows    float64
	Columns int     // of its key
	Size    float64 // how many keys the ranges of the columns have room for; 0 if that is not known
	Probes  float64 // how often a key is looked up
	exists  bool    // only whether there is a key is asked
	Unique  bool    // keys do not repeat
	// Of a key of one column:
	InOrder  bool // probes come in its order
	sorted   bool // rows do
	Numbered bool // it counts the rows
}

// Cost is the cost of putting a row in the index, and that of one probe. The engines
// address dense keys directly and hash the others, as package layout has it; the number
// of a row needs no index.
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

// Limits, which tests move so that small facts are worth a filter, too.
var (
	// LeastProbes is how many tuples must be expected to probe an index for a filter in
	// front of it to be worth its setting up.
	LeastProbes = float64(1 << 18)
	// LeastGain is the gain for each of them, on the scale of the costs.
	LeastGain = 1.0
)

// FilterGain is what bits over the keys of so many rows, for which there is room for so many
// values, save of each of so many probes, of which a share finds something.
func FilterGain(rows, room, probes, probe, kept float64) float64 {
	if room == 0 || room > 8*maxBits {
		return 0
	}
	insert, test := IndexShape{Rows: rows, Columns: 1, Size: room, Probes: probes, exists: true}.Cost()
	return probe*(1-kept) - test - insert*rows/probes
}
