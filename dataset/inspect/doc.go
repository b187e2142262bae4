// Package inspect says what people are told of a table: what its columns hold ([Describe]), which rows seem to be none
// ([Strays]), what to know before a fit ([Findings]), and why columns can't be fitted ([Explain]). It changes nothing.
package inspect
