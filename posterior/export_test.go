package posterior

// SamplePathwise draws few rows by the rule that Sample uses for many.
var SamplePathwise = (*Posterior).samplePathwise
