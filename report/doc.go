// Package report writes a model, its predictions and its validation as one
// self-contained HTML file, and states the results of a validation or a replay in
// words.
//
// [Regression] is the input of a report on predicted values and [Classes] that of
// a report on predicted classes; Write draws the maps and figures and writes the
// page. The page loads nothing and runs no script, and the same input gives the
// same bytes.
//
// [CompareErrors], [JudgeCoverage], [CompareAccuracy], [JudgeCalibration] and
// [JudgeGain] are the statistical tests behind the sentences of a report: they
// take numbers and return typed verdicts, whose String methods write the
// sentences. [Verdicts], [ClassVerdicts] and [LimitNotes] collect the sentences
// for a whole validation.
//
// [DescribeGraph], [DescribeMeasurements] and [DescribeFile] summarize the input.
package report
