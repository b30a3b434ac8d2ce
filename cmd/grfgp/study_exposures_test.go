package main

import (
	"fmt"
	"strings"
	"testing"
)

// Shares and counts with exposures in a study: told one by one, observed from a file and
// exported, they keep the number tested and the exposure.
func TestStudyExposures(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ok("create s --goal maximize --values share --edges " + d.edges)
	trials := d.asks("s -n 2")
	if out := d.ok(fmt.Sprintf("tell s %d=3/20 %d=1/4", trials[0].Trial, trials[1].Trial)).out; !strings.Contains(out, "done, 3/20") {
		t.Error(out)
	}
	if r := d.run("observe s a1=3"); r.code != exitUsage || !strings.Contains(r.err, "the number tested") {
		t.Errorf("a share without a number tested: %+v", r)
	}
	_, file := column(t, "node,positive,tested", func(i int) string { return fmt.Sprintf("%d,%d", i%4, 6+i%3) })
	if r := d.run("observe s --measurements " + file); r.code != exitUsage || !strings.Contains(r.err, "--tested COLUMN") {
		t.Errorf("a file without a column of numbers tested: %+v", r)
	}
	if r := d.run("observe s --exposure tested --measurements " + file); r.code != exitUsage ||
		!strings.Contains(r.err, "for studies of shares") {
		t.Errorf("the flag of counts: %+v", r)
	}
	d.ok("observe s --tested tested --measurements " + file)
	shown := d.shown("s")
	if shown.Values != 42 || shown.Best.Rate() != 0.5 || shown.Observations[2].Exposure != 6 {
		t.Errorf("%d values, best %+v, third %+v", shown.Values, shown.Best, shown.Observations[2])
	}
	if out := d.ok("show s --observations").out; !strings.Contains(out, "best 0.5 at node") || !strings.Contains(out, "3/20") {
		t.Error(out)
	}
	d.ok("ask s")
	archive := d.dir + "/s.jsonl"
	d.ok("export s -o " + archive)
	d.ok("import " + archive + " --name copy")
	if copied := d.shown("copy"); copied.Observations[2].Measurement != shown.Observations[2].Measurement {
		t.Errorf("%+v after import, %+v before", copied.Observations[2], shown.Observations[2])
	}

	_, file = column(t, "node,cases,expected", func(i int) string { return fmt.Sprintf("%d,%g", i%4, 1.5+float64(i%3)) })
	if r := d.run("create asked --goal learn --edges " + d.edges + " --measurements " + file); r.code != exitUsage ||
		!strings.Contains(r.err, "--values count") {
		t.Errorf("counts are not asked about: %+v", r)
	}
	d.ok("create c --goal maximize --exposure expected --edges " + d.edges + " --measurements " + file)
	if c := d.shown("c"); !c.Settings.Exposures || c.Settings.Spec.Values != "count" || c.Best.Rate() != 2 {
		t.Errorf("%+v, best %+v", c.Settings, c.Best)
	}
}
