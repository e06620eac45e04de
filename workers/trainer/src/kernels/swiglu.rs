//! The gated activation of the MLP, `silu(gate) * up` (Shazeer, 2020). `gate` and `up` lie side by side in a row, as one
//! projection gives them.

use super::number::Number;
use super::{rows_per_thread, spread, vectorised};

/// `inner = silu(gate) * up`; `inner` has rows of `width`, `gate_up` of twice that.
pub fn swiglu<T: Number>(gate_up: &[T], width: usize, inner: &mut [T]) {
    let rows = rows_per_thread(inner.len() / width, width);
    let parts: Vec<_> = gate_up.chunks(rows * 2 * width).zip(inner.chunks_mut(rows * width)).collect();
    spread(parts, |(gate_up, inner)| forward_rows(gate_up, width, inner));
}

/// The gradients of `gate` and `up`, in the places of both, from that of `inner`, in whose place `inner` itself is computed
/// again: the gradient of the next projection needs it.
pub fn swiglu_backward<T: Number>(gate_up: &mut [T], width: usize, dinner: &mut [T]) {
    let rows = rows_per_thread(dinner.len() / width, width);
    let parts: Vec<_> = gate_up.chunks_mut(rows * 2 * width).zip(dinner.chunks_mut(rows * width)).collect();
    spread(parts, |(gate_up, dinner)| backward_rows(gate_up, width, dinner));
}

vectorised! {
    fn forward_rows<T>(gate_up: &[T], width: usize, inner: &mut [T]) {
        for (gate_up, inner) in gate_up.chunks_exact(2 * width).zip(inner.chunks_exact_mut(width)) {
            let (gate, up) = gate_up.split_at(width);
            for ((inner, gate), up) in inner.iter_mut().zip(gate).zip(up) {
                let gate = gate.wide();
                *inner = T::nearest(gate * sigmoid(gate) * up.wide());
            }
        }
    }
}

vectorised! {
    fn backward_rows<T>(gate_up: &mut [T], width: usize, dinner: &mut [T]) {
        for (gate_up, dinner) in gate_up.chunks_exact_mut(2 * width).zip(dinner.chunks_exact_mut(width)) {
            let (gate, up) = gate_up.split_at_mut(width);
            for ((d, gate_at), up_at) in dinner.iter_mut().zip(gate).zip(up) {
                let (gate, up, dinner) = (gate_at.wide(), up_at.wide(), d.wide());
                let sigmoid = sigmoid(gate);
                let silu = gate * sigmoid;
                *gate_at = T::nearest(dinner * up * (sigmoid + silu * (1.0 - sigmoid)));
                *up_at = T::nearest(dinner * silu);
                *d = T::nearest(silu * up);
            }
        }
    }
}

#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `e^x` to within two units in the last place, by the reduction and the polynomial of the Cephes library, which vectorise.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding it leaves the nearest whole number in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    // Beyond these the result would be no normal number.
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let whole = shifted - MAGIC;
    // ln 2 in two parts, so that the product with the first is exact.
    let rest = x - whole * 0.693_359_4 - whole * -2.121_944_4e-4;
    let mut polynomial = 1.987_569_1e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        polynomial = polynomial * rest + coefficient;
    }
    let fraction = polynomial * rest * rest + rest + 1.0;
    let power = shifted.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(127) << 23;
    fraction * f32::from_bits(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        for i in -8_700..8_800 {
            let x = i as f32 / 100.0;
            let (ours, theirs) = (exp(x), x.exp());
            assert!((ours - theirs).abs() <= theirs * 3e-7, "{x}: {ours} {theirs}");
        }
        assert!(exp(f32::NAN).is_nan());
        assert_eq!(sigmoid(f32::NEG_INFINITY) * 0.0, 0.0);
        assert!(sigmoid(200.0) == 1.0 && sigmoid(-200.0) < 1e-30);
    }
}
