package covariate_test

import (
	"fmt"

	"grfgp/covariate"
)

// Cells of a table become columns, and columns become numbers and words.
func Example() {
	columns := []covariate.Column{
		covariate.Detect("lanes", []string{"2", "3", "", "2", "4", "3"}),
		covariate.Detect("surface", []string{"asphalt", "gravel", "asphalt", "asphalt", "gravel", "asphalt"}),
		covariate.Detect("tags", []string{"bus;bike", "bike", "bus", "bus;bike", "", "toll;bus"}),
		covariate.Detect("built", []string{"1999", "1999", "1999", "1999", "1999", "1999"}),
	}
	set, err := covariate.Encode(columns, 6, covariate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, note := range set.Notes {
		fmt.Println(note)
	}
	for j, name := range set.Names {
		fmt.Printf("%s: node 0 has %.2f; an effect is told %s\n", name, set.X.At(0, j), set.Readings[j].Unit())
	}
	fmt.Println("words:", set.Vocabulary)
	// Output:
	// lanes: 1 of 6 missing, taken as the mean
	// surface: 2 levels
	// built: left out: all values are 1999
	// tags: 3 words, weighted by how rare they are; 1 in one node only left out; "bus" is in 4 nodes; 1 of 6 nodes have no words
	// lanes: node 0 has -1.07; an effect is told per 0.748 more of lanes (one sd)
	// surface=gravel: node 0 has -0.47; an effect is told where surface is gravel
	// words: [bike bus]
}
