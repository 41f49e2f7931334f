// SPDX-License-Identifier: MIT
//
// Quartz: a copying collector in Rust, as an example of a plug-in; adapter.c puts it behind isoheap's
// interface.  Two halves, and Cheney's search: what is copied and not yet scanned is the queue.

const INFIX: u64 = 249;
const CLOSURE: u64 = 247;
const NO_SCAN: u64 = 251;

struct Copying<'a> {
    from: &'a mut [u64],
    to: &'a mut [u64],
    used: usize,
}

fn size(header: u64) -> usize {
    (header >> 10) as usize
}

fn tag(header: u64) -> u64 {
    header & 255
}

impl Copying<'_> {
    /// The place in `from` of field 0 of the block that the value leads to, and how far into it.
    fn place(&self, value: u64) -> Option<(usize, usize)> {
        let base = self.from.as_ptr() as u64;
        if value & 1 == 1 || value < base || value >= base + 8 * self.from.len() as u64 {
            return None;
        }
        let at = (value - base) as usize / 8;
        let back = if tag(self.from[at - 1]) == INFIX { size(self.from[at - 1]) } else { 0 };
        Some((at - back, back))
    }

    /// Copies the block that the value leads to, if that has not been done; the value that leads there.
    fn forward(&mut self, value: u64) -> u64 {
        let (at, offset) = match self.place(value) {
            None => return value,
            Some(place) => place,
        };
        let header = self.from[at - 1];
        if header != 0 {
            let words = size(header) + 1;
            self.to[self.used..self.used + words].copy_from_slice(&self.from[at - 1..at - 1 + words]);
            self.from[at - 1] = 0; // it has moved, and field 0 says where to
            self.from[at] = self.to.as_ptr() as u64 + 8 * (self.used as u64 + 1);
            self.used += words;
        }
        self.from[at] + 8 * offset as u64
    }

    /// The first field of the block at that header which may be a reference.
    fn first(&self, at: usize) -> usize {
        match tag(self.to[at]) {
            CLOSURE => (self.to[at + 2] << 8 >> 9) as usize,
            tag if tag >= NO_SCAN => size(self.to[at]),
            _ => 0,
        }
    }
}

/// Copies what the roots lead to from one half to the other, `words` each; calls `tick` for each block.
/// Returns how many words are in use.
///
/// # Safety
/// The halves are `words` long, and the first one is full of blocks as far as roots lead.
#[no_mangle]
pub unsafe extern "C" fn quartz_collect(
    from: *mut u64,
    to: *mut u64,
    words: usize,
    roots: *mut u64,
    n_roots: usize,
    tick: extern "C" fn(*mut u8),
    context: *mut u8,
) -> usize {
    let mut copying = Copying {
        from: std::slice::from_raw_parts_mut(from, words),
        to: std::slice::from_raw_parts_mut(to, words),
        used: 0,
    };
    for root in std::slice::from_raw_parts_mut(roots, n_roots) {
        *root = copying.forward(*root);
    }
    let mut at = 0;
    while at < copying.used {
        tick(context);
        let end = at + size(copying.to[at]) + 1;
        for i in at + 1 + copying.first(at)..end {
            copying.to[i] = copying.forward(copying.to[i]);
        }
        at = end;
    }
    copying.used
}
