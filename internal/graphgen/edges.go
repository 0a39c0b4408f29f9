package graphgen

import (
	"bufio"
	"os"
	"strconv"
)

// Edge is a pair of numbers.
type Edge [2]int32

// Edges are pairs in any order. Some may occur more than once.
type Edges []Edge

// Write writes a file of lines of two columns.
func (e Edges) Write(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	b := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for _, pair := range e {
		line = strconv.AppendInt(line[:0], int64(pair[0]), 10)
		line = append(line, '\t')
		line = strconv.AppendInt(line, int64(pair[1]), 10)
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return f.Close()
}
