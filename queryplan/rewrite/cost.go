package rewrite

// Costs of handling one tuple, relative to a probe of an index that the first-level
// cache holds. They are measured on the cpu engine, over TPC-H.
const (
	scanCost  = 0.1 // reading it from a stored column
	emitCost  = 0.5 // a tuple of a join's result
	storeCost = 1   // keeping it until all are there
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

// indexShape is what an index costs depends on.
type indexShape struct {
	rows    float64
	columns int     // of its key
	size    float64 // how many keys the ranges of the columns have room for; 0 if that is not known
	probes  float64 // how often a key is looked up
	exists  bool    // only whether there is a key is asked
	unique  bool    // keys do not repeat
	// Of a key of one column:
	inOrder  bool // probes come in its order
	sorted   bool // rows do
	numbered bool // it counts the rows
}

// cost is the cost of putting a row in the index, and that of one probe. The engines
// address dense keys directly and hash the others, as package layout has it; the number
// of a row needs no index.
func (x indexShape) cost() (insert, probe float64) {
	slot, row := 4.0, 32.0 // bytes
	switch {
	case x.exists:
		slot, row = 1.0/8, 16
	case !x.unique:
		slot = 8
	}
	single := x.columns == 1
	dense := max(row*x.rows, 32<<10)
	if x.probes >= x.size {
		dense = max(dense, 4<<20)
	}
	direct := x.columns > 0 && x.size > 0 && slot*x.size <= dense
	switch {
	case x.columns == 0:
		probe = bitCost
	case single && x.numbered:
		probe = numberedCost * touchCost(gathered*x.rows)
	case direct && x.exists && slot*x.size <= maxBits:
		probe = bitCost
	case direct:
		probe = touchCost(slot * x.size)
	default:
		probe = touchCost(row*x.rows) * hashCost
	}
	insert = buildCost + probe
	if !x.exists && !x.unique {
		insert = multiCost + probe
	}
	if single && x.inOrder && (direct || x.numbered) {
		probe = min(probe, orderedCost)
	}
	switch {
	case single && x.numbered:
		insert = 0
	case single && direct && x.sorted && x.unique:
		insert = orderedCost
	case single && direct && x.sorted:
		insert = orderedMultiCost
	}
	return insert, probe
}
