package main

// Predicates of VCMPPD. Each is false for a NaN.
const (
	equal   = 0
	less    = 1
	greater = 0x1e
)
