package model

import "context"

type tellingKey struct{}

// Telling is a context for data (dataset.Data.Within) of which tell is told how many of the rows, that are predicted at
// once, are done: from the goroutine that predicts them.
func Telling(ctx context.Context, tell func(done, of int)) context.Context {
	return context.WithValue(ctx, tellingKey{}, tell)
}

// told returns what is to be told of rows; nil where nobody asks.
func told(ctx context.Context) func(done, of int) {
	if ctx == nil {
		return nil
	}
	tell, _ := ctx.Value(tellingKey{}).(func(done, of int))
	return tell
}
