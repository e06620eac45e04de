//! The number types weights are stored in, and their conversion to and from `f32`.

/// Stored type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// IEEE single precision.
    F32,
    /// The upper half of an `f32`.
    Bf16,
    /// IEEE half precision.
    F16,
}

impl Dtype {
    /// The name in a safetensors header.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::Bf16 => "BF16",
            Self::F16 => "F16",
        }
    }

    /// The name in `config.json`.
    pub fn torch_name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::Bf16 => "bfloat16",
            Self::F16 => "float16",
        }
    }

    /// The type of that name in a safetensors header, if it is one of the three.
    pub fn of(name: &str) -> Option<Self> {
        [Self::F32, Self::Bf16, Self::F16].into_iter().find(|d| d.name() == name)
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::Bf16 | Self::F16 => 2,
        }
    }

    /// Converts stored little-endian bytes; a trailing partial element is ignored.
    pub fn decode(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::F32 => bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            Self::Bf16 => halves(bytes).map(|h| f32::from_bits(u32::from(h) << 16)).collect(),
            Self::F16 => halves(bytes).map(f16_to_f32).collect(),
        }
    }

    /// Appends `values` as stored bytes; rounds to nearest, ties to even. F16 is read, never written: values beyond
    /// its range would be lost.
    pub fn encode(self, values: &[f32], out: &mut Vec<u8>) {
        match self {
            Self::F32 | Self::F16 => out.extend(values.iter().flat_map(|v| v.to_le_bytes())),
            Self::Bf16 => out.extend(values.iter().flat_map(|v| f32_to_bf16(*v).to_le_bytes())),
        }
    }
}

fn halves(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b))
}

fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return ((bits >> 16) | 0x40) as u16;
    }
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

fn f16_to_f32(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = ((half >> 10) & 0x1f, half & 0x3ff);
    let magnitude = match exponent {
        0 => f32::from(fraction) * 2.0_f32.powi(-24),
        0x1f if fraction == 0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => f32::from(fraction | 0x400) * 2.0_f32.powi(i32::from(exponent) - 25),
    };
    sign * magnitude
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_exactly() {
        let cases = [
            (0x3c00_u16, 1.0_f32),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x3555, 0.333_251_95),
        ];
        for (bits, value) in cases {
            assert_eq!(Dtype::F16.decode(&bits.to_le_bytes()), [value]);
        }
        assert!(Dtype::F16.decode(&0x7c01_u16.to_le_bytes())[0].is_nan());
    }

    #[test]
    fn bfloat_rounds_to_nearest_even() {
        let mut out = Vec::new();
        Dtype::Bf16.encode(&[1.0, 1.003_906_3, 1.011_718_8, f32::NAN], &mut out);
        let back = Dtype::Bf16.decode(&out);
        assert_eq!(back[..3], [1.0, 1.0, 1.015_625]);
        assert!(back[3].is_nan());
    }
}
