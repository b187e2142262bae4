// Package watch holds the outcomes of a model's predictions against its certificate, for as long as they come: a ledger
// of outcomes on disk, which loses none that was acknowledged, and evidence against "the risk is at most the bound"
// (pacbayes.Evidence), whose alarm is false with probability at most δ, for ever.
package watch
