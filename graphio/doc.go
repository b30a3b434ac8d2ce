// Package graphio reads graphs, node tables, measurements and labels from files and
// accounts for every line.
//
// # Tables
//
// There are four kinds of files, each with a reader:
//
//   - edges, with two ends and an optional weight or distance: [ReadGraph]
//   - nodes, with an id and optional coordinates, cost, group and so on, and any other
//     columns, which become covariates: [ReadNodes]; [JoinNodes] joins several tables
//   - measurements, with a node, a value and an optional standard deviation, time,
//     exposure or number tested, also as wide tables of nodes and times: [ReadMeasurements]
//   - labels, with a node and a class: [ReadLabels]
//
// All of them may be delimited text or a file of another program that package formats
// reads, such as GML or JSON; edges may be MatrixMarket or GraphML, too. A file that
// holds nodes and edges is a graph with its node table, and its attributes of nodes can be
// measurements or labels. Files may be compressed by gzip or zstd. [NearestNeighbours]
// makes a graph from the coordinates of a node table.
//
//	net, err := graphio.ReadGraph(ctx, graphio.File("roads.csv"), graphio.Options{})
//	m, err := graphio.ReadMeasurements(ctx, graphio.File("speeds.csv"), net.Graph, graphio.Options{})
//	data, err := gp.DataOf(m)
//
// # Detection
//
// A reader finds compression, format, delimiter, header, decimal sign and the role
// of each column by itself, from the first 1,000 rows. Roles follow from names
// ("source", "FromNodeId", "speed_mph"), then from types, then from ids that are
// already known. The [Report] says what was found, and why. Each field of [Options]
// overrides one of these decisions.
//
// A file that can be read in several ways is an error, never a guess. A column that
// may be a distance is not used as a weight unless [Options].Weights says how: weights
// are similarities, and a distance d becomes the weight (mean distance)/d.
//
// # Ids
//
// The id of a node is text, compared byte by byte, and never changed. Where ids of
// two files differ by case, leading zeros or blanks, the error or warning says so.
//
// # The ledger
//
// The [Ledger] of a report counts what became of each line: header, edge or row,
// repeat, self loop, missing value, unknown id, blank, comment, bad row. In a file of
// another program it counts edges, nodes or records in place of lines. The counts
// always add up:
//
//	7 lines = 1 header + 3 edges + 1 repeat + 1 self loop + 1 blank
//
// # Errors
//
// Every error about a file is an [*Error] with a code, a place and remedies: things to
// do, and options to set. Its text names options as fields of [Options]; a program
// can write them as its own flags or parameters with [Error.Text] and a [Speller].
package graphio
