package buildid

import "runtime/debug"

// Version returns the version of redfox: that of the module or, for a build
// from a checkout, the commit.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	modules := append([]*debug.Module{&info.Main}, info.Deps...)
	for _, m := range modules {
		if m.Path == modulePath && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	version := "(devel)"
	if info.Main.Path != modulePath {
		return version // the settings are those of another program
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			version = "commit " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			version += " with changes"
		}
	}
	return version
}

// modulePath is the path of redfox.
const modulePath = "github.com/redfoxdb/redfox"
