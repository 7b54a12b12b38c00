// SPDX-License-Identifier: BSD-2-Clause
// Panics through traced frames: caught, gone on with, in a thread; a closure; a match.
use std::panic;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

static CLEANED: AtomicI32 = AtomicI32::new(0);

#[no_mangle]
#[inline(never)]
pub extern "C" fn rust_match(n: i32) -> i32 {
    match n {
        0 => 3,
        1 | 2 => n * 7,
        3..=9 => n - 1,
        _ => -n,
    }
}

#[no_mangle]
#[inline(never)]
pub fn rust_deep(n: i32) -> i32 {
    let kept = vec![n; 3];
    if n == 0 {
        panic!("bottom");
    }
    rust_deep(n - 1) + kept[1]
}

struct Guard(i32);

impl Drop for Guard {
    fn drop(&mut self) {
        CLEANED.fetch_add(rust_match(self.0), Ordering::SeqCst);
    }
}

// catches, cleans up, and goes on with the same panic
#[no_mangle]
#[inline(never)]
pub fn rust_again(n: i32) -> i32 {
    let guard = Guard(n);
    match panic::catch_unwind(|| rust_deep(n)) {
        Ok(sum) => sum + guard.0,
        Err(_) if n > 3 => -1,
        Err(cause) => panic::resume_unwind(cause),
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let sum: i32 = (0..12).map(|i| rust_match(i)).sum();
    let caught = panic::catch_unwind(|| rust_deep(3)).is_err();
    let again = panic::catch_unwind(|| rust_again(2)).is_err();
    let stayed = rust_again(4);
    let thread = thread::spawn(|| rust_again(1)).join().is_err();
    println!("{} {} {} {} {} {}", sum, caught, again, stayed, thread, CLEANED.load(Ordering::SeqCst));
}
