package version

import (
	"regexp"
	"runtime/debug"
	"testing"
)

// semantic is a version without build metadata, as semver.org defines it.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

func TestNumber(t *testing.T) {
	t.Parallel()
	if !semantic.MatchString(Number()) {
		t.Errorf("%q is no semantic version", Number())
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	const sum = "9f187fa0123456789abcdef0123456789abcdef0"
	changed := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: sum}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		name     string
		commit   string
		settings []debug.BuildSetting
		want     string
	}{
		{"nothing known", "", nil, ""},
		{"of version control", "", changed[:2], "+9f187fa01234"},
		{"with changes", "", changed, "+9f187fa01234.modified"},
		{"of the linker", "0123456789abcdef", changed, "+0123456789ab"},
		{"short", "abc", nil, "+abc"},
	} {
		if got := describe(c.commit, c.settings).String(); got != Number()+c.want {
			t.Errorf("%s: %q, want %q", c.name, got, Number()+c.want)
		}
	}
}
