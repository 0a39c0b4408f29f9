package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// figures are the measurements of one machine, a file of bench/figures.
// docs/performance.md is rendered from these files.
type figures struct {
	Machine string   `json:"machine"`
	Figures []figure `json:"figures"`
}

// figure is one row: a piece of work and the time of each system for it.
type figure struct {
	Work string `json:"work"` // the key of the row, such as tpch/sum
	Date string `json:"date"` // the day of the measurement: year, month, day
	// Seconds are medians of wall-clock times, by engine or peer. For works
	// named process/ they are processor times of whole processes.
	Seconds map[string]float64 `json:"seconds"`
	// Source names the origin of times that this run did not measure.
	Source map[string]string `json:"source,omitempty"`
}

// readFigures reads a file. A missing file has no figures.
func readFigures(file string) (*figures, error) {
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &figures{}, nil
	case err != nil:
		return nil, err
	}
	var f figures
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &f, nil
}

// find returns the row of a work, or nil if there is none.
func (f *figures) find(work string) *figure {
	i := slices.IndexFunc(f.Figures, func(g figure) bool { return g.Work == work })
	if i < 0 {
		return nil
	}
	return &f.Figures[i]
}

// write replaces a file.
func (f *figures) write(file string) error {
	slices.SortFunc(f.Figures, func(a, b figure) int { return strings.Compare(a.Work, b.Work) })
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, append(text, '\n'))
}

// record writes a row to the file of -figures, if the flag is given. It
// replaces an earlier row of the same work. A system whose time is 0 is
// omitted.
func (c config) record(work string, times map[string]float64, source map[string]string) error {
	if c.figures == "" {
		return nil
	}
	all, err := readFigures(c.figures)
	if err != nil {
		return err
	}
	row := figure{Work: work, Date: time.Now().UTC().Format(time.DateOnly),
		Seconds: map[string]float64{}}
	for system, t := range times {
		if t > 0 {
			row.Seconds[system] = suite.Round(t, 3)
			if from := source[system]; from != "" {
				if row.Source == nil {
					row.Source = map[string]string{}
				}
				row.Source[system] = from
			}
		}
	}
	if old := all.find(work); old != nil {
		*old = row
	} else {
		all.Figures = append(all.Figures, row)
	}
	return all.write(c.figures)
}
