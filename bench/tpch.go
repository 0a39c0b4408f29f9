package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	queries "github.com/redfoxdb/redfox/internal/suite"
)

// benchTPCH measures TPC-H.
func benchTPCH(ctx context.Context, c config) error {
	s, _ := queries.Find("tpch")
	return benchQueries(ctx, c, s, c.tpch)
}

// tpchFiles returns the files of a query of TPC-H.
func tpchFiles(query string) []string {
	return []string{testFile("tpch", "schema.logic"), testFile("tpch", query+".logic")}
}

// tpchNames returns the names of the queries of TPC-H, in order.
func tpchNames() ([]string, error) {
	files, err := filepath.Glob(testFile("tpch", "q*.logic"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no queries of TPC-H in testdata (%w)", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".logic")
	}
	return files, nil
}
