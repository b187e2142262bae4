package posterior

// SamplePathwise draws few rows by the rule that Sample keeps for many.
var SamplePathwise = (*Posterior).samplePathwise
