package primitives

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// floor is the quotient rounded down.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func TestDates(t *testing.T) {
	days := []int64{0, -1, 58, 59, 60, 789, 11016, 11017, 19782, 19783, 20512, -719468, -719469,
		-719528, 2932896, 100_000_000, -100_000_000}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		days = append(days, r.Int64N(4_000_000)-2_000_000)
	}
	want := make([]int64, 9*len(days))
	for i, d := range days {
		out := want[9*i:]
		year, month, day := scalar.CivilFromDays(d)
		out[0], out[1], out[2] = year, int64(month), int64(day)
		out[3], _ = scalar.DatetimePart(d*scalar.MicrosPerDay, scalar.DayOfWeek)
		out[4], _ = scalar.DatetimePart(d*scalar.MicrosPerDay, scalar.DayOfYear)
		out[5] = d
		for k, months := range []int64{13, -1} {
			moved, ok := scalar.DatetimeAdd(d*scalar.MicrosPerDay, months, scalar.Month)
			if !ok {
				t.Fatalf("day %d has no month later", d)
			}
			out[6+k] = floor(moved, scalar.MicrosPerDay)
		}
		out[8] = d*10000 + 1000
		// The standard library agrees where it can.
		if at := time.Unix(d*86400, 0).UTC(); int64(at.Year()) != year ||
			int(at.Month()) != month || at.Day() != day {
			t.Fatalf("day %d is %v, not %d-%d-%d", d, at, year, month, day)
		}
	}
	onEach(t, func(t *testing.T, d *device) {
		got := make([]int64, len(want))
		d.run(t, "date_parts", days, len(days), got)
		equal(t, "parts", got, want)
	})
}

// halves splits a number modulo 2^128.
func halves(v *big.Int) (lo, hi int64) {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	lo = int64(new(big.Int).And(v, mask).Uint64())
	hi = int64(new(big.Int).And(new(big.Int).Rsh(v, 64), mask).Uint64())
	return lo, hi
}

// quotient is a / b rounded half away from zero.
func quotient(a, b *big.Int) *big.Int {
	size := new(big.Int).Abs(b)
	q := new(big.Int).Lsh(new(big.Int).Abs(a), 1)
	q.Quo(q.Add(q, size), new(big.Int).Lsh(size, 1))
	if a.Sign()*b.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

func TestInt128(t *testing.T) {
	edges := []int64{0, 1, -1, 2, 3, -7, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 32,
		-1 << 32, 999_999_999_999, 0x7fff_ffff_0000_0001, -0x7654_3210_ffff_fffe}
	var pairs []int64
	for _, a := range edges {
		for _, b := range edges {
			pairs = append(pairs, a, b)
		}
	}
	onEach(t, func(t *testing.T, d *device) {
		for _, divisor := range []uint64{1, 2, 3, 100, 1<<40 + 1, math.MaxInt64, 1 << 63,
			math.MaxUint64} {
			n := len(pairs) / 2
			want, got := make([]int64, 15*n), make([]int64, 15*n)
			limit := new(big.Int).Lsh(big.NewInt(1), 127)
			for i := range n {
				out := want[15*i:]
				x, y := big.NewInt(pairs[2*i]), big.NewInt(pairs[2*i+1])
				product := new(big.Int).Mul(x, y)
				out[0], out[1] = halves(product)
				sum := new(big.Int).Add(product, product)
				if sum.Cmp(limit) < 0 {
					out[2] = 1
				}
				sum.Add(sum, x)
				out[3], out[4] = halves(sum)
				// The comparison sees the sum modulo 2^128.
				wrapped := new(big.Int).Lsh(big.NewInt(out[4]), 64)
				wrapped.Add(wrapped, new(big.Int).SetUint64(uint64(out[3])))
				out[5] = int64(product.Cmp(wrapped))
				if product.IsInt64() {
					out[6] = 1
				}
				out[7], out[8] = halves(quotient(product, new(big.Int).SetUint64(divisor)))
				by := new(big.Int).Lsh(big.NewInt(pairs[2*i]>>32), 64)
				by.Add(by, new(big.Int).SetUint64(uint64(pairs[2*i+1])))
				if by.Sign() == 0 {
					out[10], out[11] = halves(product)
				} else {
					q := quotient(product, by)
					out[10], out[11] = halves(q)
					if q.Cmp(limit) < 0 {
						out[9] = 1
					}
				}
			}
			for i := range n {
				mean128(want[15*i+12:], pairs[2*i], pairs[2*i+1], int64(divisor))
			}
			d.run(t, "int128_parts", pairs, n, divisor, got)
			equal(t, "parts", got, want)
		}
	})
}

// mean128 sets what int128_parts has of rf_i128_mean.
func mean128(out []int64, x, y, n int64) {
	high := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
	if n <= 0 {
		out[1], out[2] = halves(high)
		return
	}
	low := new(big.Int).Lsh(big.NewInt(y), 64)
	low.Add(low, new(big.Int).SetUint64(uint64(x)))
	sum := new(big.Int).Lsh(high, 64)
	sum.Add(sum, low).Add(sum, new(big.Int).Lsh(big.NewInt(n), 63))
	mean := quotient(sum.Mul(sum, big.NewInt(1000)), big.NewInt(n))
	out[1], out[2] = halves(mean)
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	if mean.Cmp(limit) < 0 && mean.Cmp(new(big.Int).Neg(limit)) >= 0 {
		out[0] = 1
	}
}

// likeTables builds what rf_string_like takes from a pattern.
func likeTables(pattern []rune) (masks, loops []uint64, runes []uint32, length, words int) {
	var accepts []rune // 0 for any character
	loopAt := map[int]bool{}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '%':
			loopAt[len(accepts)] = true
		case '_':
			accepts = append(accepts, 0)
		default:
			accepts = append(accepts, pattern[i])
		}
	}
	length = len(accepts)
	words = length/64 + 1
	mask := func(r rune) []uint64 {
		out := make([]uint64, words)
		for p, a := range accepts {
			if a == 0 || a == r {
				out[p/64] |= 1 << (p % 64)
			}
		}
		return out
	}
	for r := range rune(128) {
		masks = append(masks, mask(r)...)
	}
	masks = append(masks, mask(-1)...)
	for _, a := range accepts {
		if a >= 128 {
			runes = append(runes, uint32(a))
			masks = append(masks, mask(a)...)
		}
	}
	loops = make([]uint64, words)
	for p := range loopAt {
		loops[p/64] |= 1 << (p % 64)
	}
	return masks, loops, runes, length, words
}

func TestStrings(t *testing.T) {
	texts := []string{
		"", "", "a", "ab", "ab", "abc", "special requests", "the special handling of requests",
		"änderung", "ä", "日本語", "日本",
		"a\xffb", "\xe6\x97", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "🦊 runs",
		"Customer%Complaints", "aaaaaaaab",
		"0123456789012345678901234567890123456789012345678901234567890123456789", "zzz",
	}
	patterns := []string{
		"", "%", "_", "__", "a%", "%b", "a_", "_b%", "%special%requests%", "%ä%", "日__", "%🦊_runs",
		"a_b", "_%", "%a%a%b", "%_z",
		"0123456789012345678901234567890123456789012345678901234567890123456789",
		"0%9012345678901234567890123456789012345678901234567890123456_89%",
	}
	var text []byte
	offsets := []int64{0}
	for _, s := range texts {
		text = append(text, s...)
		offsets = append(offsets, int64(len(text)))
	}
	n := len(texts)
	onEach(t, func(t *testing.T, d *device) {
		for _, pattern := range patterns {
			like, err := scalar.CompileLike(pattern)
			if err != nil {
				t.Fatal(err)
			}
			masks, loops, runes, length, words := likeTables([]rune(pattern))
			got := make([]int64, 5*n)
			d.run(t, "string_match", text, offsets, n, masks, loops, runes, len(runes), length,
				words, got)
			hashes := map[string]int64{}
			for i, s := range texts {
				before := texts[max(i-1, 0)]
				flag := func(b bool) int64 {
					if b {
						return 1
					}
					return 0
				}
				want := []int64{
					flag(like.Match(s)), int64(cmp.Compare(s, before)), flag(s == before),
					flag(bytes.HasPrefix([]byte(s), []byte(before))),
				}
				equal(t, pattern+" on "+s, got[5*i:5*i+4], want)
				if h, ok := hashes[s]; ok && h != got[5*i+4] {
					t.Errorf("%q has two hashes", s)
				}
				hashes[s] = got[5*i+4]
			}
			different := map[int64]bool{}
			for _, h := range hashes {
				different[h] = true
			}
			if len(different) != len(hashes) {
				t.Errorf("%d texts have %d hashes", len(hashes), len(different))
			}
		}
	})
}
