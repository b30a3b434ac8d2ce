package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// clusterBlocks returns the blocks of code in docs/cluster.md of one language.
func clusterBlocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	if len(all) == 0 {
		t.Fatalf("no block of %s", language)
	}
	return all
}

// clusterLines returns the command lines of grfgp and grfgp-lab in docs/cluster.md, with the launcher as mpirun.
func clusterLines(t *testing.T) (lines []string) {
	t.Helper()
	for _, b := range slices.Concat(clusterBlocks(t, "sh"), clusterBlocks(t, "bash")) {
		for line := range strings.Lines(strings.ReplaceAll(b, "\\\n", " ")) {
			line = strings.Join(strings.Fields(line), " ")
			if regexp.MustCompile(`(^|\s)grfgp(-lab)? \w`).MatchString(line) && !strings.HasPrefix(line, "#") {
				line = regexp.MustCompile(`^srun .*? grfgp `).ReplaceAllString(line, "mpirun -n 2 grfgp ")
				lines = append(lines, strings.ReplaceAll(line, `"$SLURM_CPUS_PER_TASK"`, "2"))
			}
		}
	}
	found := regexp.MustCompile(`command: \[(mpirun,.*)\]`).FindStringSubmatch(clusterBlocks(t, "yaml")[0])
	if found == nil {
		t.Fatal("no command in the YAML")
	}
	return append(lines, strings.NewReplacer(",", "", `"`, "").Replace(found[1]))
}

// TestClusterDoc: the commands of docs/cluster.md exist, with their flags, and its script is one that bash reads.
func TestClusterDoc(t *testing.T) {
	t.Parallel()
	lines := clusterLines(t)
	if len(lines) < 9 {
		t.Fatalf("only %d command lines: %q", len(lines), lines)
	}
	lab := buildLab(t, t.TempDir())
	for _, line := range lines {
		_, words, ofLab := strings.Cut(line, "grfgp-lab ")
		if !ofLab {
			_, words, _ = strings.Cut(line, "grfgp ")
		}
		verb := strings.Fields(words)
		n := 1
		if verb[0] == "bench" {
			n = 2
		}
		ask := append(slices.Clone(verb[:n]), "--help")
		help := result{code: exitOK}
		if !ofLab {
			help = runLine(t, "", ask...)
		} else if out, err := exec.Command(lab, ask...).Output(); err != nil {
			t.Errorf("%s: %v", line, err)
		} else {
			help.out = string(out)
		}
		for _, w := range verb[n:] {
			if flag, _, _ := strings.Cut(w, "="); help.code != exitOK || strings.HasPrefix(w, "-") && !strings.Contains(help.out, flag) {
				t.Errorf("%s: there is no %s", line, w)
			}
		}
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	for _, b := range clusterBlocks(t, "bash") {
		cmd := exec.Command("bash", "-n")
		cmd.Stdin = strings.NewReader(b)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}
