// SPDX-License-Identifier: BSD-2-Clause
//! A shop that gives discounts.

struct Item {
    cents: u32,
    count: u32,
}

#[inline(never)]
fn discount(items: &[Item]) -> Option<u32> {
    let count: u32 = items.iter().map(|item| item.count).sum();
    match count {
        0..=2 => None,
        3..=9 => Some(5),
        _ => Some(10),
    }
}

#[inline(never)]
fn total(items: &[Item]) -> u32 {
    let sum: u32 = items.iter().map(|item| item.cents * item.count).sum();
    match discount(items) {
        Some(percent) => sum - sum * percent / 100,
        None => sum,
    }
}

fn main() {
    let cart = [Item { cents: 250, count: 2 }, Item { cents: 1000, count: 1 }];
    std::process::exit((total(&cart) != 1425) as i32);
}
