package main

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
	"strings"

	"grfgp/graphio"
	"grfgp/internal/htmlpage"
	"grfgp/internal/paper/experiment"
)

//go:embed reproduce.html
var reproducePageText string

var reproducePageTemplate = htmlpage.New("reproduction", reproducePageText)

// reproducePage is what the template shows.
type reproducePage struct {
	Title    string
	Chapters []chapterPage
	Missing  []string // experiments that have no results here
}

type chapterPage struct {
	*chapter
	Command string
	Figures []figurePage
	Costs   bool
}

type figurePage struct {
	Image   template.URL // of our own making
	Caption string
	Wide    bool
}

// writeReport writes report.html and report.md over every experiment that has
// results in the folder, whenever they were made.
func (b *binder) writeReport(known []*experiment.Experiment) error {
	p := reproducePage{Title: "Graph random features for scalable Gaussian processes, again"}
	for _, e := range known {
		c, err := b.chapter(e.Name)
		if err != nil {
			return err
		}
		if c == nil {
			p.Missing = append(p.Missing, e.Name)
			continue
		}
		page := chapterPage{chapter: c, Command: command(c), Costs: e.HasCosts()}
		for _, f := range c.Section.Figures {
			image, err := os.ReadFile(b.figure(e.Name, f))
			if errors.Is(err, fs.ErrNotExist) {
				return dataf("the figure %s is gone; run 'grfgp reproduce %s' again", b.figure(e.Name, f), e.Name)
			}
			if err != nil {
				return err
			}
			data := "data:image/png;base64," + base64.StdEncoding.EncodeToString(image)
			page.Figures = append(page.Figures, figurePage{template.URL(data), f.Caption, f.Wide})
		}
		p.Chapters = append(p.Chapters, page)
	}
	if len(p.Chapters) == 0 {
		return nil
	}
	if err := graphio.WriteFile(filepath.Join(b.dir, "report.md"), p.writeMarkdown); err != nil {
		return err
	}
	return graphio.WriteFile(filepath.Join(b.dir, "report.html"), func(w io.Writer) error {
		return reproducePageTemplate.Execute(w, p)
	})
}

// Origin says what a chapter is made of, and by what.
func (c chapterPage) Origin() []string {
	var all []string
	if c.Options.Quick {
		all = append(all, "A quick look, at small sizes and with few seeds.")
	}
	parts := fmt.Sprintf("From %d parts.", c.Cells)
	if c.Listed > 0 {
		parts = fmt.Sprintf("From %d of %d parts.", c.Cells, c.Listed)
	}
	if c.Seconds > 0 {
		parts = strings.TrimSuffix(parts, ".") + ", which took " + inWords(c.Seconds) + " in all where they ran."
	}
	all = append(all, parts)
	if c.Program != "" {
		all = append(all, "Written by "+c.Program+".")
	}
	return all
}

// command is the line that computes what the chapter shows.
func command(c *chapter) string {
	words := []string{"grfgp", "reproduce", c.Name}
	if c.Options.Quick {
		words = append(words, "--quick")
	}
	if c.Options.Seeds > 0 {
		words = append(words, fmt.Sprintf("--seeds %d", c.Options.Seeds))
	}
	if c.Options.Only != nil {
		words = append(words, fmt.Sprintf("--only '%s'", c.Options.Only))
	}
	if c.Options.Seed != 1 {
		words = append(words, fmt.Sprintf("--seed %d", c.Options.Seed))
	}
	return strings.Join(words, " ")
}
