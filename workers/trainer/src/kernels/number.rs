//! The number types of the kernels.

use tch::Kind;

/// A type that tensors are stored in and fp32 is computed from.
pub trait Number: Copy + Send + Sync + 'static {
    /// Its name in libtorch.
    const KIND: Kind;
    /// Exactly this number.
    fn wide(self) -> f32;
    /// The nearest to it.
    fn nearest(value: f32) -> Self;
}

impl Number for f32 {
    const KIND: Kind = Kind::Float;

    #[inline(always)]
    fn wide(self) -> f32 {
        self
    }

    #[inline(always)]
    fn nearest(value: f32) -> Self {
        value
    }
}

/// bfloat16: the upper half of an fp32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(u16);

impl Number for Bf16 {
    const KIND: Kind = Kind::BFloat16;

    #[inline(always)]
    fn wide(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Ties go to the even one, as libtorch rounds.
    #[inline(always)]
    fn nearest(value: f32) -> Self {
        const QUIET_NAN: u32 = 0x7fc0;
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
        Self(if value.is_nan() { QUIET_NAN } else { rounded } as u16)
    }
}

/// A whole number, as positions and ids are.
impl Number for i64 {
    const KIND: Kind = Kind::Int64;

    fn wide(self) -> f32 {
        self as f32
    }

    fn nearest(value: f32) -> Self {
        value as Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Tensor;

    #[test]
    fn bfloat_is_rounded_as_libtorch_does() {
        let values: Vec<f32> = (0..2_000)
            .map(|i| f32::from_bits(0x3f80_0000 + i * 4_099))
            .chain([0.0, -0.0, f32::INFINITY, 1e-40])
            .collect();
        let theirs = Tensor::from_slice(&values).to_kind(Kind::BFloat16).to_kind(Kind::Float);
        let ours: Vec<f32> = values.iter().map(|value| Bf16::nearest(*value).wide()).collect();
        assert_eq!(ours, Vec::<f32>::try_from(&theirs).unwrap());
        assert!(Bf16::nearest(f32::NAN).wide().is_nan() && Bf16::nearest(-f32::NAN).wide().is_nan());
    }
}
