// SPDX-License-Identifier: BSD-2-Clause
// A panic through traced frames, caught; a closure; a match.
use std::panic;

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

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let sum: i32 = (0..12).map(|i| rust_match(i)).sum();
    let caught = panic::catch_unwind(|| rust_deep(3)).is_err();
    println!("{} {}", sum, caught);
}
