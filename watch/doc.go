// Package watch compares the outcomes of a model's predictions with its certificate, for as long as outcomes come. An
// outcome is the loss of a prediction whose target became known. A ledger on disk keeps every outcome that was
// acknowledged. pacbayes.Evidence measures what the outcomes say against "the risk is at most the bound". If this claim
// is true, there is ever an alarm with probability at most δ.
package watch
