package suite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/failure"
)

// peer starts DuckDB, or skips the test if DuckDB is not installed.
func peer(t *testing.T) *DuckDB {
	t.Helper()
	var none *failure.Environment
	for _, python := range []string{os.Getenv("REDFOX_PYTHON"), "../data/venv/bin/python",
		"python3"} {
		if python == "" {
			continue
		}
		d, err := StartDuckDB(context.Background(), python, 2)
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	t.Skip(none)
	return nil
}

func TestDuckDB(t *testing.T) {
	d := peer(t)
	if !strings.Contains(d.Version, ".") {
		t.Errorf("the version is %q", d.Version)
	}
	if err := d.Load("../../testdata/tpch/sf0.01", "nation", "region"); err != nil {
		t.Fatal(err)
	}
	times, answer,
		err := d.Query("select r_name, count(*), avg(n_nationkey), sum(n_nationkey::decimal(9,2)), null, date '1995-03-15' from nation join region on n_regionkey = r_regionkey group by all order by 1 limit 1", 4, 0)
	if err != nil || len(times) != 4 {
		t.Fatal(times, err)
	}
	if got := strings.Join(answer.Rows[0], "|"); got != "AFRICA|5|10.0|50.00|NULL|1995-03-15" {
		t.Errorf("the answer is %s", got)
	}
	types := ""
	for _, c := range answer.Columns {
		types += c.Type + " "
	}
	if !strings.HasPrefix(types, "VARCHAR BIGINT DOUBLE DECIMAL(38,2) ") {
		t.Errorf("the types are %s", types)
	}
	if times, _, err = d.Query("select 1", 0, 0); err != nil || len(times) != 1 {
		t.Errorf("once: %v, %v", times, err)
	}
	// A mistake leaves the process as it was.
	if err := d.Execute("select nothing from nowhere"); err == nil ||
		!strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a mistake: %v", err)
	}
	if err := d.Execute("select 2"); err != nil {
		t.Error(err)
	}
	if err := d.Load(t.TempDir(), "nation"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing table: %v", err)
	}
}

// TestNoDuckDB holds what is said where there is no Python, or one without the
// module.
func TestNoDuckDB(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "python")
	script := "#!/bin/sh\necho '{\"error\": \"No module named duckdb\", \"missing\": true}'\n"
	if err := os.WriteFile(bare, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho out of luck >&2\nexit 1\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	for python, want := range map[string]string{
		"no-such-python": "no-such-python does not run: ",
		bare:             "does not have it: No module named duckdb",
		broken:           "did not start: out of luck",
	} {
		var none *failure.Environment
		if _, err := StartDuckDB(context.Background(), python, 1); !errors.As(err, &none) ||
			!strings.Contains(none.Message, want) ||
			!strings.Contains(none.Help, "pip install duckdb") {
			t.Errorf("%s: %v", python, err)
		}
	}
}
