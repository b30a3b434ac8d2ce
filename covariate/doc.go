// Package covariate turns what is known about the nodes into numbers that kernels use.
//
// A covariate is a property of a node that is known at all nodes, or at most of them:
// the capacity of a road, the age of an account, the words of a paper. A [Column] holds
// one of them as the user gave it; package graphio reads columns from a node table.
// [Encode] turns columns into a [Set]: a dense matrix of bounded numbers, and a sparse
// matrix of words.
//
//	columns := net.Nodes.Covariates()
//	chosen, err := covariate.Select(columns, []string{"all"}, "volume")
//	set, err := covariate.Encode(chosen, net.Graph.Len(), covariate.Options{})
//	for _, note := range set.Notes {
//		fmt.Println(note) // capacity: logged, because its upper tail is heavy …
//	}
//
// # Kinds of columns
//
// [Detect] and [Builder] find the kind of a column from its cells, of which one in
// twenty may not fit and then counts as missing:
//
//   - number: numbers. Exceptions: 0 and 1 alone are a category; so are whole numbers
//     with leading zeros (007), and whole numbers of up to 50 distinct values, ten cells
//     each on average, in a column whose name says that they are codes: type, class,
//     kind, code, mode, status and so on. Other whole numbers, such as lanes, are numbers.
//   - date: 2024-05-31, with or without a time; 2024/05/31; 31.05.2024; 31 May 2024; May
//     31, 2024; 05/31/2024 if some day above 12 shows which is the month. Dates become
//     days since 1970. Also 20240531 in a column whose name has the word date or day.
//   - words: lists in which ; or | separates the words, or blanks if most cells have
//     several words that return in other cells. Order and repeats do not matter.
//   - category: text with at most half as many distinct values as cells.
//   - identifier: other text; and whole numbers that all differ, if they are a
//     run (1, 2, 3, …) or the name says that they are ids. They are left out.
//
// # What Encode does
//
// Encode looks at all nodes and at no measurement.
//
//   - Numbers and dates get mean 0 and sd 1, and are clipped at ±4, so that no node has
//     an extreme effect in a linear model. Before that, if no number is negative, their
//     skewness is above 1.5 and that of log(1 + v/b) less than half as large (in magnitude), the
//     logarithm is taken; b is the median, the lower decile or the least of the positive
//     numbers, whichever leaves the least skewness. It is also taken if the 95 % quantile of the
//
// positive numbers is ten times the 5 % quantile or more. If some are negative, the kurtosis is above 20 and the logarithm of 1 + the
// distance from
//
//	  the median in units of its own median, with its sign, at least halves it, that is taken.
//	- A category becomes a column of zeros and ones per level, less its mean, or one
//	  such column times √2 if there are two levels: two nodes of different levels are then as far
//	  apart as two nodes are on average in a column of numbers. Levels of few nodes (a
//	  twentieth, at least 2, at most 5), and levels beyond the 50 most common, are pooled.
//	- A missing value is 0, the mean. If at least 1 % of values are missing, and a few
//	  nodes have and a few lack one, there is a column that says where.
//	- Words of n among N nodes weigh log(N/n), and rows have unit length. Words of one node
//	  or of all nodes are left out.
//	- Columns without variation, identifiers, and multiples of earlier columns are left out.
//	- All columns of Set.X that stem from one source column are a group, which shares hyperparameters. With
//	  more than 30 source columns, all numbers are one group and all categories another.
//
// [Set.WordVectors] and [Set.SpreadWordVectors] turn words into a few dense columns, in which nodes with
// related words are close.
//
// Everything that was done is in [Set].Notes, and [Reading] says how to read an effect on
// the scale of the user: per sd, per doubling, or for a level.
package covariate
