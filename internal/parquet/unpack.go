package parquet

import "encoding/binary"

// unpack decodes numbers of the width that are packed in data from a bit on. It
// returns the bit behind them. Numbers that data is too short for are 0.
func unpack[T Number](dst []T, data []byte, at, width int) int {
	mask := uint64(1)<<width - 1
	// Eight bytes are read at once where there are as many.
	whole := min(len(dst), max(0, ((len(data)-8)*8-at)/width))
	i := 0
	// Eight numbers take whole bytes. The first one of them starts a byte.
	for ; i < whole && at&7 != 0; i++ {
		dst[i] = T(binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	if groups := (whole - i) / 8; groups > 0 {
		switch part := dst[i : i+8*groups]; {
		case width <= 8:
			unpackEights(part, data[at>>3:], width)
		case width <= 15:
			unpackFours(part, data[at>>3:], width)
		case width <= 28:
			unpackTwos(part, data[at>>3:], width)
		default:
			groups = 0
		}
		i += 8 * groups
		at += 8 * groups * width
	}
	for ; i < whole; i++ {
		dst[i] = T(binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	rest := dst[whole:]
	for i := range rest {
		rest[i] = T(numberAt(data, at, width))
		at += width
	}
	return at
}

// numberAt decodes the number of the width at a bit of data, or 0 behind it.
func numberAt(data []byte, at, width int) uint64 {
	mask := uint64(1)<<width - 1
	if from := at >> 3; from+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[from:]) >> (at & 7) & mask
	}
	var last [8]byte
	copy(last[:], data[min(at>>3, len(data)):])
	return binary.LittleEndian.Uint64(last[:]) >> (at & 7) & mask
}

// unpackEights decodes groups of eight numbers of at most 8 bits, which 64 bits
// hold.
func unpackEights[T Number](dst []T, data []byte, width int) {
	mask, w := uint64(1)<<width-1, uint(width)&15
	for ; len(dst) >= 8; dst = dst[8:] {
		x := binary.LittleEndian.Uint64(data)
		d := dst[:8:8]
		d[0] = T(x & mask)
		x >>= w
		d[1] = T(x & mask)
		x >>= w
		d[2] = T(x & mask)
		x >>= w
		d[3] = T(x & mask)
		x >>= w
		d[4] = T(x & mask)
		x >>= w
		d[5] = T(x & mask)
		x >>= w
		d[6] = T(x & mask)
		x >>= w
		d[7] = T(x & mask)
		data = data[width:]
	}
}

// unpackFours decodes groups of eight numbers of at most 15 bits: four numbers,
// and the bits before them in their first byte, take at most 64.
func unpackFours[T Number](dst []T, data []byte, width int) {
	mask, w := uint64(1)<<width-1, uint(width)&15
	second, shift := width/2, uint(width&1)*4
	for ; len(dst) >= 8; dst = dst[8:] {
		x := binary.LittleEndian.Uint64(data)
		y := binary.LittleEndian.Uint64(data[second:]) >> shift
		d := dst[:8:8]
		d[0] = T(x & mask)
		d[4] = T(y & mask)
		x >>= w
		y >>= w
		d[1] = T(x & mask)
		d[5] = T(y & mask)
		x >>= w
		y >>= w
		d[2] = T(x & mask)
		d[6] = T(y & mask)
		x >>= w
		y >>= w
		d[3] = T(x & mask)
		d[7] = T(y & mask)
		data = data[width:]
	}
}

// unpackTwos decodes groups of eight numbers of at most 28 bits: two numbers,
// and up to 6 bits before them, take at most 62.
func unpackTwos[T Number](dst []T, data []byte, width int) {
	mask, w := uint64(1)<<width-1, uint(width)&31
	for ; len(dst) >= 8; dst = dst[8:] {
		d := dst[:8:8]
		for pair := 0; pair < 4; pair++ {
			bit := 2 * pair * width
			x := binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7)
			d[2*pair] = T(x & mask)
			d[2*pair+1] = T(x >> w & mask)
		}
		data = data[width:]
	}
}
