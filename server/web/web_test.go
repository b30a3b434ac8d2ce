package web_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"grfgp/server/web"
)

// files returns all files of the page by name.
func files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(web.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(web.Files, name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The page loads nothing from outside, and what it loads from here is here.
func TestNothingFromOutside(t *testing.T) {
	all := files(t)
	outside := regexp.MustCompile(`(?:https?:)?//[\w-]+\.[\w.-]+`)
	imported := regexp.MustCompile(`(?m)^(?:import|export) .*from "([^"]+)";|\bimport\("([^"]+)"\)|(?:src|href)="(assets/[^"]+)"`)
	used := map[string]bool{"index.html": true, "worker.js": true}
	for name, text := range all {
		for _, address := range outside.FindAllString(text, -1) {
			if address != "http://www.w3.org" { // names of formats, not addresses
				t.Errorf("%s: %s", name, address)
			}
		}
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			target := m[3]
			if module := m[1] + m[2]; module != "" {
				target = path.Join(path.Dir(name), module)
			}
			if used[target] = true; all[target] == "" {
				t.Errorf("%s: %s is not there", name, target)
			}
		}
	}
	for name := range all {
		if !used[name] {
			t.Errorf("nothing uses %s", name)
		}
	}
}

// A proxy may show the page under a path: addresses are relative.
func TestRelativeAddresses(t *testing.T) {
	for name, text := range files(t) {
		if found := regexp.MustCompile(`(?:src|href)="/|fetch\((?:path|"/)|from "/`).FindString(text); found != "" {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// What comes from the server is shown as text, and the content policy forbids
// what would be inline.
func TestNothingInline(t *testing.T) {
	for _, rule := range []struct {
		pattern string
		in      string // files whose names end so
	}{
		{`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment`, ".js"},
		{`setAttribute\("style"|style:`, ".js"},
		{`<style|\sstyle=|\son\w+=|<script(?: type="module")?>`, ".html"},
		{`url\(|@import`, ".css"},
	} {
		for name, text := range files(t) {
			if strings.HasSuffix(name, rule.in) {
				if found := regexp.MustCompile(rule.pattern).FindString(text); found != "" {
					t.Errorf("%s: %q", name, found)
				}
			}
		}
	}
}
