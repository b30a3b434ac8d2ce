package output

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"grfgp/internal/atomicfile"
	"grfgp/internal/htmlpage"
	"grfgp/lab/experiment"
)

//go:embed report.html
var reportText string

var reportTemplate = template.Must(template.New("reproduction").Parse(reportText))

// report is the data of the template.
type report struct {
	Title    string
	Sections []section
	Missing  []string // experiments without results in the folder
}

// Head is the head of the page, without a script.
func (r report) Head() template.HTML { return template.HTML(htmlpage.Head(r.Title, "")) }

type section struct {
	*Summary
	Command string
	Images  []image
	Costs   bool
}

type image struct {
	Data    template.URL // drawn by this program
	Caption string
	Wide    bool
}

// WriteReport writes report.html and report.md on those of the known experiments that
// have results in the folder. Command returns the command line that made a summary.
func (f *Folder) WriteReport(known []*experiment.Experiment, command func(*Summary) string) error {
	r := report{Title: "Graph random features for scalable Gaussian processes: a reproduction"}
	for _, e := range known {
		s, err := f.Summary(e.Name)
		if err != nil {
			return err
		}
		if s == nil {
			r.Missing = append(r.Missing, e.Name)
			continue
		}
		part := section{Summary: s, Command: command(s), Costs: e.HasCosts()}
		for _, figure := range s.Section.Figures {
			png, err := os.ReadFile(f.figure(e.Name, figure))
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w: the figure %s is missing; run 'grfgp-lab reproduce %s' again", ErrDamaged, f.figure(e.Name, figure), e.Name)
			}
			if err != nil {
				return err
			}
			data := "data:image/png;base64," + base64.StdEncoding.EncodeToString(png)
			part.Images = append(part.Images, image{template.URL(data), figure.Caption, figure.Wide})
		}
		r.Sections = append(r.Sections, part)
	}
	if len(r.Sections) == 0 {
		return nil
	}
	if err := atomicfile.Write(filepath.Join(f.dir, "report.md"), r.writeMarkdown); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(f.dir, "report.html"), func(w io.Writer) error {
		return reportTemplate.Execute(w, r)
	})
}

// Origin says which parts the section is based on, and which program wrote it.
func (s section) Origin() []string {
	var all []string
	if s.Options.Quick {
		all = append(all, "A quick run, with small sizes and few seeds.")
	}
	parts := fmt.Sprintf("Based on %d parts", s.Parts)
	if s.Listed > 0 {
		parts = fmt.Sprintf("Based on %d of %d parts", s.Parts, s.Listed)
	}
	if s.Seconds > 0 {
		parts += ", which took " + Duration(s.Seconds) + " in total"
	}
	all = append(all, parts+".")
	if s.Program != "" {
		all = append(all, "Written by "+s.Program+".")
	}
	return all
}

// Duration formats seconds in seconds, minutes or hours, without decimals.
func Duration(seconds float64) string {
	switch {
	case seconds < 100:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 100*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
}
