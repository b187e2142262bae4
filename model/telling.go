package model

import "context"

type tellingKey struct{}

// Telling returns a context that reports progress. While a model predicts many rows at once, tell gets the number of
// rows done and the total. The goroutine that predicts calls tell. dataset.Data.Within gives the context to the data.
func Telling(ctx context.Context, tell func(done, of int)) context.Context {
	return context.WithValue(ctx, tellingKey{}, tell)
}

// told returns the function that Telling put into ctx, or nil.
func told(ctx context.Context) func(done, of int) {
	if ctx == nil {
		return nil
	}
	tell, _ := ctx.Value(tellingKey{}).(func(done, of int))
	return tell
}
