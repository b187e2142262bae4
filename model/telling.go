package model

import "context"

type tellingKey struct{}

// Telling is a context for data (dataset.Data.Within) of which tell is told how many of the rows, that are predicted at
// once, are done: from the goroutine that predicts them.
func Telling(ctx context.Context, tell func(done, of int)) context.Context {
	return context.WithValue(ctx, tellingKey{}, tell)
}

// told returns what is to be told of rows, which does nothing where nobody asks.
func told(rows any) func(done, of int) {
	if of, ok := rows.(interface{ Context() context.Context }); ok && of.Context() != nil {
		if tell, ok := of.Context().Value(tellingKey{}).(func(done, of int)); ok {
			return tell
		}
	}
	return func(int, int) {}
}
