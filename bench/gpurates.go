package main

import (
	"fmt"
	"math"
)

// Rates of one H200 with a driver for CUDA 13.0, of minimal programs in CUDA
// C++, best of three (bench/history.md).
const (
	readRate   = 4.54e12 // bytes a second that 16-byte loads read, 4 in flight a thread
	copyRate   = 4.26e12 // bytes a second, read and written
	insertRate = 20e9    // tries a second of insert-if-absent, 64-bit keys, 2 to 16 GB of table
)

// measuredRate is the number of random accesses a second to a table of a size.
type measuredRate struct{ megabytes, rate float64 }

var (
	gathers = []measuredRate{{8, 161e9}, {64, 76e9}, {512, 42e9}, {4096, 39e9}, {32768, 38e9}}
	atomics = []measuredRate{{8, 79e9}, {64, 36e9}, {490, 17e9}, {2048, 16e9}, {16384, 16e9}}
)

// at interpolates the rate at a size, linearly in the logarithm of the size.
func at(list []measuredRate, bytes float64) float64 {
	mb := bytes / 1e6
	if mb <= list[0].megabytes {
		return list[0].rate
	}
	for i, r := range list[1:] {
		if below := list[i]; mb <= r.megabytes {
			part := math.Log(mb/below.megabytes) / math.Log(r.megabytes/below.megabytes)
			return below.rate * math.Pow(r.rate/below.rate, part)
		}
	}
	return list[len(list)-1].rate
}

// readAll is the ceiling of work that reads bytes.
func readAll(bytes int64) ceiling { return ceiling{float64(bytes) / readRate, "read 4.54 TB/s"} }

// readOr is the ceiling of work that reads bytes and makes n random accesses.
func readOr(bytes int64, n int, rate float64, what string) ceiling {
	read, random := readAll(bytes), float64(n)/rate
	if random > read.seconds {
		return ceiling{random, fmt.Sprintf("%s %.3g G/s", what, rate/1e9)}
	}
	return read
}
