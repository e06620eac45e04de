//! How GGUF stores numbers, and back to `f32`: the formulas of ggml's `dequantize_row_*` (ggml-quants.c), in its order of
//! operations, so that the values are the same to the bit.
//!
//! A quantised row is a sequence of blocks, each with its scales. Within a block of 32 the first half of the values are the
//! low nibbles and the second half the high ones.

use crate::safetensors::Dtype;

/// Stored type of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// 4 bits, a scale per 32.
    Q4_0,
    /// 4 bits, a scale and an offset per 32.
    Q4_1,
    /// 5 bits, a scale per 32.
    Q5_0,
    /// 5 bits, a scale and an offset per 32.
    Q5_1,
    /// 8 bits, a scale per 32.
    Q8_0,
    /// 4 bits, scales and offsets of 6 bits per 32 in blocks of 256.
    Q4K,
    /// 5 bits, scales and offsets of 6 bits per 32 in blocks of 256.
    Q5K,
    /// 6 bits, scales of 8 bits per 16 in blocks of 256.
    Q6K,
}

/// Encoding, its number in a file, its name, values of a block and bytes of a block.
const ALL: [(Encoding, u32, &str, usize, usize); 11] = [
    (Encoding::F32, 0, "F32", 1, 4),
    (Encoding::F16, 1, "F16", 1, 2),
    (Encoding::Bf16, 30, "BF16", 1, 2),
    (Encoding::Q4_0, 2, "Q4_0", 32, 18),
    (Encoding::Q4_1, 3, "Q4_1", 32, 20),
    (Encoding::Q5_0, 6, "Q5_0", 32, 22),
    (Encoding::Q5_1, 7, "Q5_1", 32, 24),
    (Encoding::Q8_0, 8, "Q8_0", 32, 34),
    (Encoding::Q4K, 12, "Q4_K", 256, 144),
    (Encoding::Q5K, 13, "Q5_K", 256, 176),
    (Encoding::Q6K, 14, "Q6_K", 256, 210),
];

impl Encoding {
    /// The encoding of this number in a file.
    pub fn of(code: u32) -> Option<Self> {
        ALL.iter().find(|row| row.1 == code).map(|row| row.0)
    }

    /// The names of all encodings.
    pub fn names() -> [&'static str; 11] {
        ALL.map(|row| row.2)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// Values of a block.
    pub fn block_values(self) -> usize {
        self.row().3
    }

    /// Bytes of a block.
    pub fn block_bytes(self) -> usize {
        self.row().4
    }

    fn row(self) -> &'static (Self, u32, &'static str, usize, usize) {
        // Every encoding has a row; the first stands for one that had none.
        ALL.iter().find(|row| row.0 == self).unwrap_or(&ALL[0])
    }

    /// The numbers of stored bytes; a trailing part of a block is ignored.
    pub fn decode(self, bytes: &[u8]) -> Vec<f32> {
        let mut out = Vec::with_capacity(bytes.len() / self.block_bytes() * self.block_values());
        match self {
            Self::F32 => return Dtype::F32.decode(bytes),
            Self::F16 => return Dtype::F16.decode(bytes),
            Self::Bf16 => return Dtype::Bf16.decode(bytes),
            Self::Q4_0 => blocks::<18>(bytes, |b| q4_0(b, &mut out)),
            Self::Q4_1 => blocks::<20>(bytes, |b| q4_1(b, &mut out)),
            Self::Q5_0 => blocks::<22>(bytes, |b| q5_0(b, &mut out)),
            Self::Q5_1 => blocks::<24>(bytes, |b| q5_1(b, &mut out)),
            Self::Q8_0 => blocks::<34>(bytes, |b| q8_0(b, &mut out)),
            Self::Q4K => blocks::<144>(bytes, |b| q4_k(b, &mut out)),
            Self::Q5K => blocks::<176>(bytes, |b| q5_k(b, &mut out)),
            Self::Q6K => blocks::<210>(bytes, |b| q6_k(b, &mut out)),
        }
        out
    }
}

fn blocks<const N: usize>(bytes: &[u8], decode: impl FnMut(&[u8; N])) {
    bytes.as_chunks::<N>().0.iter().for_each(decode);
}

/// The half-precision number at this place.
fn half(block: &[u8], at: usize) -> f32 {
    Dtype::F16.decode(&block[at..at + 2])[0]
}

fn q4_0(block: &[u8; 18], out: &mut Vec<f32>) {
    let scale = half(block, 0);
    let value = |nibble: u8| (i32::from(nibble) - 8) as f32 * scale;
    out.extend(block[2..].iter().map(|q| value(q & 0xf)));
    out.extend(block[2..].iter().map(|q| value(q >> 4)));
}

fn q4_1(block: &[u8; 20], out: &mut Vec<f32>) {
    let (scale, offset) = (half(block, 0), half(block, 2));
    let value = |nibble: u8| f32::from(nibble) * scale + offset;
    out.extend(block[4..].iter().map(|q| value(q & 0xf)));
    out.extend(block[4..].iter().map(|q| value(q >> 4)));
}

/// The fifth bits of a block of 32, `0x10` or 0, from the word at this place.
fn fifth_bits(block: &[u8], at: usize) -> impl Fn(usize) -> u8 {
    let word = u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    move |index| if word >> index & 1 == 1 { 0x10 } else { 0 }
}

fn q5_0(block: &[u8; 22], out: &mut Vec<f32>) {
    let scale = half(block, 0);
    let fifth = fifth_bits(block, 2);
    let value = |bits: u8| (i32::from(bits) - 16) as f32 * scale;
    out.extend(block[6..].iter().enumerate().map(|(j, q)| value(q & 0xf | fifth(j))));
    out.extend(block[6..].iter().enumerate().map(|(j, q)| value(q >> 4 | fifth(j + 16))));
}

fn q5_1(block: &[u8; 24], out: &mut Vec<f32>) {
    let (scale, offset) = (half(block, 0), half(block, 2));
    let fifth = fifth_bits(block, 4);
    let value = |bits: u8| f32::from(bits) * scale + offset;
    out.extend(block[8..].iter().enumerate().map(|(j, q)| value(q & 0xf | fifth(j))));
    out.extend(block[8..].iter().enumerate().map(|(j, q)| value(q >> 4 | fifth(j + 16))));
}

fn q8_0(block: &[u8; 34], out: &mut Vec<f32>) {
    let scale = half(block, 0);
    out.extend(block[2..].iter().map(|q| f32::from(*q as i8) * scale));
}

/// Scale and offset of the `j`th 32 values, 6 bits each, from the 12 bytes that hold those of a block.
fn scale_and_offset(scales: &[u8], j: usize) -> (f32, f32) {
    let (scale, offset) = if j < 4 {
        (scales[j] & 63, scales[j + 4] & 63)
    } else {
        let (low, scale_top, offset_top) = (scales[j + 4], scales[j - 4] >> 6, scales[j] >> 6);
        (low & 0xf | scale_top << 4, low >> 4 | offset_top << 4)
    };
    (f32::from(scale), f32::from(offset))
}

/// Eight runs of 32: nibbles of 32 bytes serve two runs, the low ones first. `fifth` gives a run's value its fifth bit.
fn k_runs(block: &[u8], quants: &[u8], fifth: impl Fn(usize, usize) -> u8, out: &mut Vec<f32>) {
    let (scale, offset) = (half(block, 0), half(block, 2));
    for (pair, bytes) in quants.chunks_exact(32).enumerate() {
        for high in 0..2 {
            let run = 2 * pair + high;
            let (run_scale, run_offset) = scale_and_offset(&block[4..16], run);
            let (run_scale, run_offset) = (scale * run_scale, offset * run_offset);
            let nibble = |q: u8| if high == 0 { q & 0xf } else { q >> 4 };
            let value = |(l, q): (usize, &u8)| run_scale * f32::from(nibble(*q) | fifth(run, l)) - run_offset;
            out.extend(bytes.iter().enumerate().map(value));
        }
    }
}

fn q4_k(block: &[u8; 144], out: &mut Vec<f32>) {
    k_runs(block, &block[16..], |_, _| 0, out);
}

fn q5_k(block: &[u8; 176], out: &mut Vec<f32>) {
    let fifth = |run: usize, l: usize| if block[16 + l] >> run & 1 == 1 { 0x10 } else { 0 };
    k_runs(block, &block[48..], fifth, out);
}

fn q6_k(block: &[u8; 210], out: &mut Vec<f32>) {
    let scale = half(block, 208);
    for part in 0..2 {
        let low = &block[64 * part..64 * (part + 1)];
        let high = &block[128 + 32 * part..128 + 32 * (part + 1)];
        let scales = &block[192 + 8 * part..192 + 8 * (part + 1)];
        for quarter in 0..4 {
            out.extend((0..32).map(|l| {
                let byte = low[l + 32 * (quarter % 2)];
                let nibble = if quarter < 2 { byte & 0xf } else { byte >> 4 };
                let bits = nibble | (high[l] >> (2 * quarter) & 3) << 4;
                scale * f32::from(scales[l / 16 + 2 * quarter] as i8) * (i32::from(bits) - 32) as f32
            }));
        }
    }
}
