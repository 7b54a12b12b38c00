(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2)))))
(display (f 18)) (newline)
(display (call/cc (lambda (k) (for-each (lambda (x) (if (> x 3) (k x))) '(1 2 3 4 5)) 0))) (newline)
(let loop ((i 0) (l '())) (if (< i 30000) (loop (+ i 1) (cons (make-string 20 #\a) (if (= 0 (modulo i 100)) '() l))) (begin (display (length l)) (newline))))
