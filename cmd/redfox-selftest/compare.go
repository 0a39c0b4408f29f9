package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/redfoxdb/redfox/internal/driver"
)

// difference returns the first difference of two results, "" if there is none.
func difference(want, got *driver.Result) string {
	if !slices.Equal(want.Predicates(), got.Predicates()) {
		return fmt.Sprintf("the predicates are %v, not %v", got.Predicates(), want.Predicates())
	}
	for _, pred := range want.Predicates() {
		if why := differentTuples(want, got, pred); why != "" {
			return pred + " differs: " + why
		}
	}
	return ""
}

// differentTuples compares a predicate, whose tuples come sorted.
func differentTuples(want, got *driver.Result, pred string) string {
	next, stop := iter.Pull(want.Tuples(pred))
	defer stop()
	why, n := "", int64(0)
	for row := range got.Tuples(pred) {
		n++
		expected, ok := next()
		switch {
		case !ok:
			why = fmt.Sprintf("tuple %d, %s, is too many", n, text(row))
		case !slices.Equal(row, expected):
			why = fmt.Sprintf("tuple %d is %s, not %s", n, text(row), text(expected))
		}
		if why != "" {
			return fmt.Sprintf("%s; there are %d and should be %d", why, got.Len(pred),
				want.Len(pred))
		}
	}
	if err := got.Err(); err != nil {
		return err.Error()
	}
	if row, ok := next(); ok {
		return fmt.Sprintf("tuple %d, %s, is missing; there are %d and should be %d", n+1,
			text(row), n, want.Len(pred))
	}
	if n != got.Len(pred) {
		return fmt.Sprintf("there are %d tuples, and its length is %d", n, got.Len(pred))
	}
	return ""
}

// checksum returns the SHA-256 of a result's bytes as TSV.
func checksum(res *driver.Result) (string, error) {
	h := sha256.New()
	for _, pred := range res.Predicates() {
		fmt.Fprintln(h, pred)
		if err := res.Write(h, pred, driver.TSV, driver.WriteOptions{}); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
