package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
)

// strict forbids every field that a schema does not describe. Published schemas allow them, so
// that a new field breaks no program; our own answers must not have one.
func strict(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		_, describes := s["properties"]
		if _, others := s["additionalProperties"]; describes && !others {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			strict(part)
		}
	case []any:
		for _, part := range s {
			strict(part)
		}
	}
}

// compiled returns the schema of a command's answer, as the program prints it, after a change.
func compiled(t *testing.T, command string, change func(schema any)) *jsonschema.Schema {
	t.Helper()
	r := runLine(t, "", append([]string{"schema"}, strings.Fields(command)...)...)
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(r.out))
	if r.code != exitOK || err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	change(text)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("urn:test", text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaTests are command lines whose answers are held to the schema: words of the command,
// then its flags. $X is the file X of the test's folder.
var schemaTests = []string{
	"version | ",
	"check | --edges $edges --nodes $nodes --measurements $values --ranks 2",
	"check | --nodes $nodes --knn 2",
	"check | --edges $edges --measurements $skipped --on-bad-row skip --on-unknown skip",
	"predict | --edges $edges --measurements $values",
	"predict | --edges $edges --measurements $values --above 2 --save-model $model",
	"predict | --edges $edges --measurements $counts --values count --exposure expected --above 1",
	"predict | --edges $edges --measurements $values --values student --transform log1p",
	"predict | --edges $edges --nodes $nodes --measurements $values --covariates lanes,kind --keep lanes",
	"predict | --edges $edges --measurements $times --time date --at all",
	"predict | --edges $edges --measurements $values --method grf --walks 20",
	"classify | --edges $edges --labels $labels",
	"classify | --edges $edges --labels $labels --classifier spreading",
	"suggest | --edges $edges --measurements $values --goal maximize",
	"suggest | --edges $edges --measurements $values --goal learn -n 50",
	"suggest | --edges $edges --measurements $values --goal threshold=3",
	"suggest | --edges $edges --goal learn",
	"suggest | --edges $edges --nodes $nodes --covariates lanes --measurements $values --goal minimize",
	"suggest | --edges $edges --labels $labels --goal learn -n 2",
	"validate | --edges $edges --measurements $values --folds 3",
	"validate | --edges $edges --nodes $nodes --covariates all --measurements $values --folds 2",
	"validate | --edges $edges --measurements $counts --values count --exposure expected --folds 2",
	"validate | --edges $edges --measurements $times --time date --folds 2",
	"validate | --edges $edges --labels $labels --folds 2",
	"simulate | --edges $edges --truth $values --goal maximize --start 3 --steps 2 --seeds 2",
	"simulate | --edges $edges --truth $values --goal learn --start 3 --steps 2 --seeds 1",
	"report | --edges $edges --measurements $values --folds 2 -o $page",
	"report | --edges $edges --labels $labels --folds 2 -o $page",
	"pack | --edges $edges -o $packed",
	"token add | anna --role run --store $store",
	"token list | --store $store",
	"token remove | anna --store $store",
	"study create | pressure --store $team --edges $edges --nodes $nodes --goal minimize --budget 20 --unit bar --measurements $values",
	"study create | trees --store $team --edges $edges --classes oak,beech",
	"study ask | pressure --store $team -n 3 --by anna",
	"study ask | trees --store $team",
	"study ask | pressure --store $team --node c4",
	"study tell | pressure --store $team 1=3.1 2=failed --note flooded",
	"study tell | trees --store $team 1=oak",
	"study renew | pressure --store $team 3",
	"study release | pressure --store $team 3",
	"study reopen | pressure --store $team 3",
	"study abandon | pressure --store $team 3 --note gone",
	"study observe | pressure --store $team b1=2.5 b2=2.25 --note before",
	"study retract | pressure --store $team 1",
	"study reinstate | pressure --store $team 1",
	"study queue | pressure --store $team d1 d2 --note near",
	"study unqueue | pressure --store $team d2",
	"study list | --store $team",
	"study show | pressure --store $team",
	"study show | trees --store $team",
	"study change | pressure --store $team --budget 30",
	"study pause | pressure --store $team --note lunch",
	"study list | --store $team",
	"study resume | pressure --store $team",
	"study verify | pressure --store $team",
	"study verify | --all --store $team",
	"study export | pressure --store $team -o $export",
	"study import | $export --store $team --name again",
	"study archive | again --store $team",
	"study restore | again --store $team",
	"study retry | pressure --store $team",
	"study close | trees --store $team",
	"study graphs | --store $team",
	"study backup | --store $team -o $backup",
	"study delete | again --store $team --confirm again",
}

// schemaFiles are the files of schemaTests.
func schemaFiles() map[string]string {
	var edges, nodes, values, counts, times, labels strings.Builder
	edges.WriteString("source,target\n")
	nodes.WriteString("id,label,lat,lon,cost,lanes,kind\n")
	values.WriteString("node,value\n")
	counts.WriteString("node,cases,expected\n")
	times.WriteString("node,date,value\n")
	labels.WriteString("node,class\n")
	for row := range 4 {
		for col := range 5 {
			id := fmt.Sprintf("%c%d", 'a'+row, col)
			if col > 0 {
				fmt.Fprintf(&edges, "%c%d,%s\n", 'a'+row, col-1, id)
			}
			if row > 0 {
				fmt.Fprintf(&edges, "%c%d,%s\n", 'a'+row-1, col, id)
			}
			fmt.Fprintf(&nodes, "%s,Corner %s,%d.5,%d.25,%d,%d,%s\n", id, id, row, col, 1+col%2, 1+(row*col)%3, []string{"street", "avenue"}[col%2])
			if (row+2*col)%3 > 0 {
				continue
			}
			fmt.Fprintf(&values, "%s,%d.%d\n", id, 1+row+col, (row*7+col*3)%10)
			fmt.Fprintf(&counts, "%s,%d,%d.5\n", id, 3+row*2+col, 4+col)
			fmt.Fprintf(&times, "%s,2024-01-01,%d.5\n%s,2024-02-01,%d.25\n", id, row+col, id, row+col+1)
			fmt.Fprintf(&labels, "%s,%s\n", id, []string{"oak", "beech"}[min(1, col/3)])
		}
	}
	return map[string]string{
		"edges": edges.String(), "nodes": nodes.String(), "values": values.String(), "counts": counts.String(), "times": times.String(),
		"labels":  labels.String(),
		"skipped": values.String() + "a2,NA\na3,many\nz9,3\n",
	}
}

// TestAnswersFollowTheirSchemas: every field of every answer is described, and has the
// type that the schema says.
func TestAnswersFollowTheirSchemas(t *testing.T) {
	t.Parallel()
	file := folder(t, schemaFiles())
	known := map[string]*jsonschema.Schema{}
	held := map[string]bool{}
	for _, line := range schemaTests {
		command, flags, _ := strings.Cut(line, " |")
		if known[command] == nil {
			known[command] = compiled(t, command, strict)
		}
		held[command] = true
		args := strings.Fields(command)
		for _, word := range strings.Fields(flags) {
			if name, ok := strings.CutPrefix(word, "$"); ok {
				word = file(name)
			}
			args = append(args, word)
		}
		r := runLine(t, "", append(args, "--json", "-q")...)
		if r.code != exitOK {
			t.Fatalf("%s: %+v", line, r)
		}
		checkAnswerOf(t, line, known[command], r.out)
	}
	for command := range readSchemas().Commands {
		// other tests run the slow ones
		if !held[command] && !slices.Contains([]string{"demo", "serve"}, command) {
			t.Errorf("no answer of %s is held to its schema", command)
		}
	}
}

func checkAnswerOf(t *testing.T, line string, schema *jsonschema.Schema, text string) {
	t.Helper()
	answer, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v: %q", line, err, text)
		return
	}
	if err := schema.Validate(answer); err != nil {
		t.Errorf("%s: %.3000s\n%.1000s", line, err.Error(), text)
	}
}

// TestFirstLineOfServe is about serve, whose answer comes while it runs.
func TestFirstLineOfServe(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- Run(ctx, []string{"serve", "--store", filepath.Join(t.TempDir(), "a.db"), "--listen", "127.0.0.1:0", "--json", "-q"},
			Streams{In: strings.NewReader(""), Out: write, Err: io.Discard})
	}()
	var answer json.RawMessage
	err := json.NewDecoder(read).Decode(&answer)
	stop()
	if code := <-ended; code != exitOK || err != nil {
		t.Fatalf("exit code %d: %v", code, err)
	}
	checkAnswerOf(t, "serve", compiled(t, "serve", strict), string(answer))
}

// noSchema are commands without an answer in JSON.
var noSchema = []string{"schema", "manual", "help", "completion bash", "completion zsh", "completion fish", "completion powershell"}

// TestEveryCommandHasASchema: none is forgotten, and none is left of a command that is gone.
func TestEveryCommandHasASchema(t *testing.T) {
	t.Parallel()
	all := readSchemas()
	unseen := maps.Clone(all.Commands)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "grfgp ")
		if cmd.Runnable() && cmd.HasParent() && !slices.Contains(noSchema, name) && !slices.Contains(inLab[cmd.Parent().Name()], cmd.Name()) {
			if _, ok := all.Commands[name]; !ok && !(cmd.HasSubCommands() && name != "serve") {
				t.Errorf("%s has no schema of its answer", name)
			}
			delete(unseen, name)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand())
	for name := range unseen {
		t.Errorf("there is a schema of %s, and no such command", name)
	}
	used := map[string]bool{}
	for name := range all.Commands {
		text, err := all.of(name)
		var one schemas
		if err != nil || json.Unmarshal(text, &one) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for def, body := range one.Defs {
			if used[def] = true; len(body) == 0 {
				t.Errorf("%s: there is no definition %s", name, def)
			}
		}
	}
	for def := range all.Defs {
		if !used[def] {
			t.Errorf("no command needs the definition %s", def)
		}
	}
}

// TestSchemaRefusesOtherAnswers: the published schema allows fields that may come later, the
// strict one does not, and neither allows anything else.
func TestSchemaRefusesOtherAnswers(t *testing.T) {
	t.Parallel()
	published, tight := compiled(t, "pack", func(any) {}), compiled(t, "pack", strict)
	for _, c := range []struct {
		text                  string
		fits, fitsAsDescribed bool
	}{
		{`{"version": 1, "file": "a", "nodes": 2, "edges": 1, "bytes": 9, "levels": 0}`, true, true},
		{`{"version": 2, "file": "a", "nodes": 2, "edges": 1, "bytes": 9, "levels": 0}`, false, false},
		{`{"version": 1, "file": "a", "nodes": 2, "edges": 1, "bytes": 9}`, false, false},
		{`{"version": 1, "file": "a", "nodes": "2", "edges": 1, "bytes": 9, "levels": 0}`, false, false},
		{`{"version": 1, "file": "a", "nodes": 2, "edges": 1, "bytes": 9, "levels": 0, "colour": 1}`, true, false},
	} {
		answer, err := jsonschema.UnmarshalJSON(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := published.Validate(answer); (err == nil) != c.fits {
			t.Errorf("%s: %v", c.text, err)
		}
		if err := tight.Validate(answer); (err == nil) != c.fitsAsDescribed {
			t.Errorf("%s, as described: %v", c.text, err)
		}
	}
	if r := runLine(t, "", "schema", "frob"); r.code != exitUsage || !strings.Contains(r.err, "grfgp schema") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", "schema"); r.code != exitOK || !strings.Contains(r.out, "study ask\n") {
		t.Errorf("%+v", r)
	}
}

// TestJSONPage: docs/json.md shows every command and the version of its answer.
func TestJSONPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	all := readSchemas()
	for name, answers := range all.Commands {
		for _, answer := range answers {
			var def struct {
				Properties struct{ Version struct{ Const int } }
			}
			if err := json.Unmarshal(all.Defs[answer], &def); err != nil {
				t.Fatal(err)
			}
			if row := fmt.Sprintf("| `%s` | %d |", name, def.Properties.Version.Const); !strings.Contains(string(page), row) {
				t.Errorf("docs/json.md has no row %q", row)
			}
		}
	}
}
