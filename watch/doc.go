// Package watch compares the outcomes of a model's predictions with its certificate, for as long as outcomes come. An
// outcome is the loss of a prediction whose target became known. A ledger on disk keeps every outcome that was
// acknowledged. pacbayes.Evidence measures what the outcomes say against "the risk is at most the bound". If this claim
// is true, there is ever an alarm with probability at most δ.
//
// This program adds a table of outcomes to a ledger and prints what the ledger says of the certificate:
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
//		m, err := model.Load(os.Args[1])
//		if err != nil {
//			log.Fatal(err)
//		}
//		table, err := files.ReadFile(os.Args[2], dataset.Reading{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		rows, err := m.Labelled(table)
//		if err != nil {
//			log.Fatal(err)
//		}
//		ledger, err := watch.Open(os.Args[3])
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer ledger.Close()
//		w, err := ledger.Watch(m)
//		if err != nil {
//			log.Fatal(err)
//		}
//		state, err := w.Observe(context.Background(), rows, rows.All())
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(state.Sentence(m))
//	}
package watch
