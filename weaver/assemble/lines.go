package assemble

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	fileLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\t\.file\t(\d+) (".*")\n`)
	})
	place = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\t\.loc\t(\d+) `)
	})
	sectionLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\t\.section\t\.debug_loc\t\{\t\}\n`)
	})
)

// joinLines joins PTX whose parts have places. Each part numbers its files from
// 1 on; in the whole they have numbers of their own, and one directive each at
// the end.
func joinLines(parts []string) string {
	var files []string
	for i, part := range parts {
		number := map[string]int{}
		for _, m := range fileLine().FindAllStringSubmatch(part, -1) {
			at := slices.Index(files, m[2])
			if at < 0 {
				at = len(files)
				files = append(files, m[2])
			}
			number[m[1]] = at + 1
		}
		part = sectionLine().ReplaceAllString(fileLine().ReplaceAllString(part, ""), "")
		parts[i] = place().ReplaceAllStringFunc(part, func(loc string) string {
			return fmt.Sprintf("\t.loc\t%d ", number[place().FindStringSubmatch(loc)[1]])
		})
	}
	var b strings.Builder
	b.WriteString(joinPTX(parts))
	for i, name := range files {
		fmt.Fprintf(&b, "\t.file\t%d %s\n", i+1, name)
	}
	return b.String()
}
