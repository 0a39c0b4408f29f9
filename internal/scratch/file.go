package scratch

import "os"

// Open makes a file without a name in a folder, in which its name lasts for an
// instant.
func Open(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, ".redfox-spill-*.partial")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close() // the removal is what failed
		return nil, err
	}
	return f, nil
}
