// Package watch compares the outcomes of a model's predictions with its certificate, for as long as
// outcomes come. An outcome is the loss of a prediction whose target became known.
// A ledger on disk keeps every outcome that was acknowledged.
// pacbayes.Evidence measures what the outcomes say against "the risk is at most the bound".
// If this claim is true, there is ever an alarm with probability at most δ.
//
// This program adds a table of outcomes to a ledger and prints what the ledger says about the
// certificate:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"os"
//
//		"github.com/krigo-gp/krigo/dataset"
//		"github.com/krigo-gp/krigo/dataset/files"
//		"github.com/krigo-gp/krigo/model"
//		"github.com/krigo-gp/krigo/watch"
//	)
//
//	// main takes a model file, a table with the model's inputs and target, and a ledger, which may be new.
//	func main() {
//		m := must(model.Load(os.Args[1]))
//		table := must(files.ReadFile(os.Args[2], dataset.Reading{}))
//		rows := must(m.Labelled(table))
//		ledger := must(watch.Open(os.Args[3]))
//		defer ledger.Close()
//		w := must(ledger.Watch(m))
//		state := must(w.Observe(context.Background(), rows, rows.All()))
//		fmt.Println(state.Sentence(m))
//	}
//
//	func must[T any](v T, err error) T {
//		if err != nil {
//			log.Fatal(err)
//		}
//		return v
//	}
package watch
