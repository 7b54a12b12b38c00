// SPDX-License-Identifier: BSD-2-Clause

// Two workers price orders in turn.
package main

type order struct {
	count  int
	member bool
}

//go:noinline
func price(o order) int {
	if o.count >= 10 || o.member {
		return 90 * o.count
	}
	return 100 * o.count
}

func worker(orders <-chan order, prices chan<- int) {
	for o := range orders {
		prices <- price(o)
	}
}

func main() {
	prices := make(chan int)
	workers := [2]chan order{make(chan order), make(chan order)}

	for _, orders := range workers {
		go worker(orders, prices)
	}
	for i, o := range []order{{1, false}, {12, false}, {2, true}} {
		workers[i%2] <- o
		<-prices
	}
}
