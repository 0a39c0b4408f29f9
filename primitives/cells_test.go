package primitives

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// totals is what group_cells gathers of a group.
type totals struct {
	count         int64
	sum, unsigned *big.Int
	product       *big.Int
	min, max      int64
}

// wide reads a two's complement number of 128 bits.
func wide(lo, hi int64) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(hi), 64)
	return n.Add(n, new(big.Int).SetUint64(uint64(lo)))
}

// modular brings a number into the range of wide.
func modular(n *big.Int) *big.Int {
	lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	hi := new(big.Int).Rsh(n, 64)
	hi.And(hi, new(big.Int).SetUint64(math.MaxUint64))
	return wide(int64(lo.Uint64()), int64(hi.Uint64()))
}

func TestGroupCells(t *testing.T) {
	const record = 8
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		values := make([]int64, n)
		for i, w := range words {
			// Both signs, and sums that leave 64 bits.
			values[i] = (math.MaxInt64 - w*3) * int64(1-2*(i&1&^(i>>3)))
		}
		for i, c := range []struct {
			form   int
			groups int // that keys are brought into; 0: as many as there are
			few    int
		}{
			{formNone, 1, 1}, {formNone, 1, 0}, {formDirect, 3, 3}, {formDirect, 20, 20},
			{formDirect, 40, 40}, {formDirect, 9, 0},
			{formDirect, 0, 0}, {formWide, 5, 5}, {formHash, 4, 0}, {formHash, 0, 0},
		} {
			// Blocks are slow to emulate: large inputs take the cases in turn.
			if d.threads > 1 && n > 64 && !short.Every() && (i+n+int(words[n-1]&7))%8 != 0 {
				continue
			}
			name := fmt.Sprintf("%s, %d groups, %d few", formNames[c.form], c.groups, c.few)
			keys, size, groups := inForm(c.form, words)
			if c.groups > 0 {
				for i, k := range keys {
					if i == 0 {
						keys = append([]int64(nil), keys...)
					}
					keys[i] = k % int64(c.groups)
				}
				if c.form != formHash {
					size, groups = c.groups, c.groups
				}
			}
			want := map[int64]*totals{}
			for i := range keys {
				if i%6 == 5 {
					keys[i] = -1 // not live
					continue
				}
				slot := keys[i]
				g := want[slot]
				if g == nil {
					g = &totals{0, new(big.Int), new(big.Int), new(big.Int), math.MaxInt64,
						math.MinInt64}
					want[slot] = g
				}
				v := values[i]
				g.count++
				g.sum.Add(g.sum, big.NewInt(v))
				g.unsigned.Add(g.unsigned, new(big.Int).SetUint64(uint64(v)))
				g.product.Add(g.product, new(big.Int).Mul(big.NewInt(v), big.NewInt(-3)))
				g.min, g.max = min(g.min, v), max(g.max, v)
			}
			kernels := []struct {
				name string
				few  int
			}{{"group_cells", c.few}}
			if d.threads > 1 { // own_cells is for GPUs
				kernels = append(kernels, kernels[0])
				kernels[1].name, kernels[1].few = "own_cells", 6-i%2*2
			}
			if d.threads > 1 && c.form == formDirect && c.groups > 0 {
				kernels = append(kernels, kernels[1])
				kernels[2].few = 0
			}
			for _, k := range kernels {
				name := fmt.Sprintf("%s %d, %s", k.name, k.few, name)
				table, cursor := make([]uint64, groups), []int64{10, 1}
				records, extremes := make([]int64, record*groups), make([]int64, 3*groups)
				for s := range groups {
					extremes[groups+s], extremes[2*groups+s] = math.MaxInt64, math.MinInt64
				}
				shared := 1
				if d.workers == 1 && d.threads == 1 {
					shared = 0
				}
				d.run(t, k.name, keys, values, n, c.form, table, size, cursor, records, extremes,
					k.few, shared)
				if cursor[1] != 1 {
					t.Fatalf("%s: the table was full", name)
				}
				if c.form == formHash && cursor[0] != int64(10+len(want)) {
					t.Fatalf("%s: %d groups were new, want %d", name, cursor[0]-10, len(want))
				}
				occupied := 0
				for s := range groups {
					key := int64(s)
					if c.form == formHash {
						if key = int64(table[s]); s == groups-1 {
							key = 0
						}
					}
					if c.form == formHash && table[s] == 0 || want[key] == nil {
						for i, w := range records[record*s : record*(s+1)] {
							if w != 0 {
								t.Fatalf("%s: slot %d has no rows, but word %d of it is %d", name,
									s, i, w)
							}
						}
						if extremes[s] != 0 {
							t.Fatalf("%s: slot %d has no rows, but is marked", name, s)
						}
						continue
					}
					occupied++
					r, g := records[record*s:], want[key]
					got := totals{r[0], wide(r[1], r[2]), wide(r[3], r[4]), wide(r[5], r[6]),
						extremes[groups+s], extremes[2*groups+s]}
					if got.count != g.count || got.sum.Cmp(g.sum) != 0 ||
						got.unsigned.Cmp(modular(g.unsigned)) != 0 ||
						got.product.Cmp(modular(g.product)) != 0 || got.min != g.min ||
						got.max != g.max {
						t.Fatalf("%s: group %d is %v, want %v", name, key, got, *g)
					}
					if r[7] != g.count || extremes[s] != 1 {
						t.Fatalf("%s: group %d has %d rows, want %d; marked %d", name, key, r[7],
							g.count, extremes[s])
					}
				}
				if occupied != len(want) {
					t.Fatalf("%s: %d groups, want %d", name, occupied, len(want))
				}
			}
		}
	})
}

// TestPrivateCells adds rows to cells that each thread has of each of a few
// groups.
func TestPrivateCells(t *testing.T) {
	const record = 6
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		if d.threads == 1 {
			return // they are for GPUs
		}
		for groups := 1; groups <= 3; groups++ {
			values, keys := make([]int64, len(words)), make([]int64, len(words))
			want := make([]totals, groups)
			for g := range want {
				want[g] = totals{0, new(big.Int), new(big.Int), nil, math.MaxInt64, math.MinInt64}
			}
			for i, w := range words {
				// Both signs, of which a block's sums leave 64 bits.
				values[i] = (1<<55 - w%1000) * int64(1-2*(i>>2&1&^(i>>4)))
				// The last group has no rows, but where it is the only one.
				keys[i] = (w & math.MaxInt64) % int64(max(groups-1, 1))
				if i%6 == 5 {
					keys[i] = -1 // not live
					continue
				}
				g, v := &want[keys[i]], values[i]
				g.count++
				g.sum.Add(g.sum, big.NewInt(v))
				g.unsigned.Add(g.unsigned, big.NewInt(v&0xff))
				g.min, g.max = min(g.min, v), max(g.max, v)
			}
			records, extremes := make([]int64, record*groups), make([]int64, 3*groups)
			for g := range groups {
				extremes[groups+g], extremes[2*groups+g] = math.MaxInt64, math.MinInt64
				records[record*g+5] = 7
			}
			d.run(t, "private_cells", keys, values, len(keys), groups, records, extremes)
			for g, w := range want {
				r := records[record*g:]
				got := totals{r[4], wide(r[0], r[1]), wide(r[2], r[3]), nil, extremes[groups+g],
					extremes[2*groups+g]}
				if got.count != w.count || got.sum.Cmp(w.sum) != 0 ||
					got.unsigned.Cmp(w.unsigned) != 0 || got.min != w.min || got.max != w.max {
					t.Fatalf("%d groups: group %d is %v, want %v", groups, g, got, w)
				}
				if marked := w.count > 0; (extremes[g] == 1) != marked || r[5] != 7 {
					t.Fatalf("%d groups: group %d is marked %d, and has %d rows; the word behind its record is %d", groups, g, extremes[g], w.count, r[5])
				}
			}
		}
	})
}

// TestGroupFull wants an answer where a table is too small.
func TestGroupFull(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		keys := make([]int64, 20)
		for i := range keys {
			keys[i] = int64(i)
		}
		cursor := []int64{0, 1}
		d.run(t, "group_cells", keys, keys, len(keys), formHash, make([]uint64, 9), 7, cursor,
			make([]int64, 8*9), make([]int64, 3*9), 0, 1)
		if cursor[1] != 0 {
			t.Error("20 groups go into a table of 8")
		}
	})
}

func TestGroupKeys(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		for _, n := range d.sizes() {
			const start, shift, base, bits = 3, 4, -1000, 9
			size := n + 7
			table, column := make([]uint64, size+2), make([]int64, size+2)
			for i := range table {
				table[i] = uint64(i) * 0x9e3779b97f4a7c15
				column[i] = int64(i)*11 - 50
			}
			table[size+1] = 1 // key 0
			for form := range formNames {
				want := make([]int64, n)
				for i := range want {
					slot := uint64(start + i)
					key := slot
					switch form {
					case formNone:
						key = 0
					case formHash:
						if key = table[slot]; slot == uint64(size)+1 {
							key = 0
						}
					}
					want[i] = base + int64(key>>shift&(1<<bits-1))
					if form == formWide {
						want[i] = column[slot]
					}
				}
				got := make([]int64, n)
				d.run(t, "group_keys", start, n, form, table, size, shift, base, bits, column, got)
				equal(t, formNames[form], got, want)
			}
			// The last slot of a table is that of key 0; 64 bits are the whole
			// key.
			got, want := make([]int64, 2), []int64{int64(table[size]), 0}
			d.run(t, "group_keys", size, 2, formHash, table, size, 0, 0, 64, nil, got)
			equal(t, "last slots", got, want)
			d.run(t, "group_keys", size, 2, formHash, table, size, 64, 7, 0, nil, got)
			equal(t, "a column of no bits", got, []int64{7, 7})
		}
	})
}
