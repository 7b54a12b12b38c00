proc fib n { expr {$n < 2 ? $n : [fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }
puts [fib 15]; puts [lsort -integer {5 3 9 1}]; puts [regexp -all {a+b} aabxaabab]
