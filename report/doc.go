// Package report writes a model, its predictions and its validation as one
// self-contained HTML file, and states the results of a validation or a replay in
// words.
//
// [Regression] is the input of a report on predicted values and [Classes] that of
// a report on predicted classes; Write draws the maps and figures and writes the
// page. The same input gives the same bytes. The page loads nothing, and its content
// policy lets no script run but its own, which makes maps that can be zoomed and
// searched and a table of all nodes from data within the page. Without scripts, and
// in print, still pictures and short lists stand in their place.
//
// [Summarize] and [SummarizeClasses] answer "can I trust it?" in a few sentences.
// [Verdicts], [ClassVerdicts] and [LimitNotes] collect the sentences on a validation
// from the typed verdicts of package crossval, and [PolicyVerdict] is the sentence on
// a verdict of package replay.
//
// [DescribeGraph], [DescribeMeasurements] and [DescribeFile] summarize the input.
package report
