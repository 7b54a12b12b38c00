// SPDX-License-Identifier: BSD-2-Clause
// Goroutines that wait for one another, on stacks that grow; panics that are recovered; one that ends within its calls.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
func deep(n int, each func(int)) int {
	var pad [40]int

	pad[n%len(pad)] = n
	each(n)
	if n == 0 {
		return pad[0]
	}
	return deep(n-1, each) + pad[n%len(pad)] - n + 1
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func thrower(n int) int {
	if n == 0 {
		panic("bottom")
	}
	return thrower(n-1) + 1
}

//go:noinline
func catcher(n int) (got int) {
	defer func() {
		if recover() != nil {
			got = fib(n)
		}
	}()
	return thrower(n)
}

//go:noinline
func leaver(n int) int {
	if n == 0 {
		runtime.Goexit()
	}
	return leaver(n-1) + 1
}

//go:noinline
func kind(n int) int {
	switch n % 9 {
	case 0:
		return fib(3)
	case 1:
		return n * 3
	case 2:
		return n + 7
	case 3:
		return -n
	case 4:
		return n ^ 5
	case 5:
		return fib(n % 4)
	case 6:
		return n << 2
	case 7:
		return n - 100
	}
	return 1
}

func main() {
	var group sync.WaitGroup
	const all = 7
	var baton [all + 1]chan int
	sums := make([]int, all)

	for i := range baton {
		baton[i] = make(chan int)
	}
	for i := 0; i < all; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			// each step waits for the goroutine before it, and wakes the one behind it
			sums[i] = deep(12+i, func(n int) {
				if n < 6 {
					baton[i+1] <- <-baton[i] + kind(n+i)
				}
			})
			sums[i] += catcher(i)
			if i%3 == 2 {
				leaver(i)
			}
		}(i)
	}
	last := 0
	for n := 0; n < 6; n++ {
		baton[0] <- n
		last = last*3 + <-baton[all]
	}
	group.Wait()
	fmt.Println(sums, last, deep(60, func(int) {}))
}
