// Package version is the one source of the program's version: the file version.txt beside
// it, which packages in other languages read too.
package version

import (
	_ "embed"
	"runtime"
	"runtime/debug"
	"strings"
)

//go:embed version.txt
var text string

// commit is set by builds without version control, such as those of releases and images:
// -ldflags "-X grfgp/internal/version.commit=…".
var commit string

// Number returns the semantic version, such as 1.2.3.
func Number() string { return strings.TrimSpace(text) }

// Build describes a build of the program.
type Build struct {
	Number   string `json:"release"`          // semantic version
	Commit   string `json:"commit,omitempty"` // of the sources; empty: unknown
	Modified bool   `json:"modified"`         // the sources had changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"` // operating system and architecture
}

// Current returns the build that runs.
func Current() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describe(commit, info.Settings)
}

// describe prefers the commit that the linker was given to that of the settings.
func describe(commit string, settings []debug.BuildSetting) Build {
	b := Build{Number: Number(), Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if commit != "" {
		return b
	}
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// shortCommit is the number of digits of a commit in versions.
const shortCommit = 12

// String returns the semantic version with the commit as build metadata: 1.2.3+0123456789ab.
func (b Build) String() string {
	if b.Commit == "" {
		return b.Number
	}
	s := b.Number + "+" + b.Commit[:min(shortCommit, len(b.Commit))]
	if b.Modified {
		s += ".modified"
	}
	return s
}
