// Package formats turns files of other programs into tables of text: the CSV that their
// owners would have written. It decides nothing about the meaning of columns, except
// which hold the ends of edges and the ids of nodes where a format says so; package
// graphio reads the tables by the same rules as delimited text.
//
// A format is a [Format] in the list in formats.go, with its reader in a file of its own.
// Directions of edges are dropped, with a note, because graphs have none here. What
// cannot be read is refused with the reason and what to do, never misread.
package formats
