//! The root-mean-square norm (Zhang and Sennrich, 2019), with the residual addition before it: `y = x / sqrt(mean(x^2) + eps) * w`.

use super::number::Number;
use super::{LANES, add_up, rows_per_thread, spread, vectorised};

/// `sum = x + delta` (without `delta`, nothing is added and `sum` is not written), `y` its norm. Rows have the width of `weight`.
pub fn add_norm<T: Number>(x: &[T], delta: Option<(&[T], &mut [T])>, weight: &[f32], eps: f32, y: &mut [T]) {
    let width = weight.len();
    let size = rows_per_thread(x.len() / width, width) * width;
    match delta {
        None => {
            let parts: Vec<_> = x.chunks(size).zip(y.chunks_mut(size)).collect();
            spread(parts, |(x, y)| norm_rows(x, weight, eps, y));
        }
        Some((delta, sum)) => {
            let inputs = x.chunks(size).zip(delta.chunks(size));
            let parts: Vec<_> = inputs.zip(sum.chunks_mut(size).zip(y.chunks_mut(size))).collect();
            spread(parts, |((x, delta), (sum, y))| {
                add_rows(x, delta, sum);
                norm_rows(sum, weight, eps, y);
            });
        }
    }
}

/// The gradient of the norm: from that of `y` (`dy`) that of `x`, to which `through` is added, what reaches `x` past the norm;
/// in place of it. Returns the gradient of the weight.
pub fn norm_backward<T: Number>(x: &[T], weight: &[f32], eps: f32, dy: &[T], through: &mut [T]) -> Vec<f32> {
    let width = weight.len();
    let size = rows_per_thread(x.len() / width, width) * width;
    let parts: Vec<_> = x.chunks(size).zip(dy.chunks(size)).zip(through.chunks_mut(size)).collect();
    let sums = spread(parts, |((x, dy), dx)| {
        let mut dweight = vec![0.0; width];
        backward_rows(x, weight, eps, dy, dx, &mut dweight);
        dweight
    });
    add_up(sums)
}

vectorised! {
    fn add_rows<T>(x: &[T], delta: &[T], sum: &mut [T]) {
        for ((sum, x), delta) in sum.iter_mut().zip(x).zip(delta) {
            *sum = T::nearest(x.wide() + delta.wide());
        }
    }
}

vectorised! {
    fn norm_rows<T>(x: &[T], weight: &[f32], eps: f32, y: &mut [T]) {
        for (x, y) in x.chunks_exact(weight.len()).zip(y.chunks_exact_mut(weight.len())) {
            let scale = inverse_root(x, eps);
            for ((y, x), weight) in y.iter_mut().zip(x).zip(weight) {
                *y = T::nearest(x.wide() * scale * weight);
            }
        }
    }
}

vectorised! {
    fn backward_rows<T>(x: &[T], weight: &[f32], eps: f32, dy: &[T], dx: &mut [T], dweight: &mut [f32]) {
        let width = weight.len();
        for ((x, dy), dx) in x.chunks_exact(width).zip(dy.chunks_exact(width)).zip(dx.chunks_exact_mut(width)) {
            let scale = inverse_root(x, eps);
            let along = dot3(x, dy, weight) * scale * scale / width as f32;
            for ((((dx, x), dy), weight), dweight) in
                dx.iter_mut().zip(x).zip(dy).zip(weight).zip(dweight.iter_mut())
            {
                let (x, dy) = (x.wide(), dy.wide());
                *dweight += dy * x * scale;
                *dx = T::nearest(dx.wide() + (dy * weight - x * along) * scale);
            }
        }
    }
}

/// `1 / sqrt(mean(x^2) + eps)` of a row.
#[inline(always)]
pub(super) fn inverse_root<T: Number>(x: &[T], eps: f32) -> f32 {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += x.wide() * x.wide();
        }
    }
    let tail: f32 = rest.iter().map(|x| x.wide() * x.wide()).sum();
    let mean = (sums.iter().sum::<f32>() + tail) / x.len() as f32;
    1.0 / (mean + eps).sqrt()
}

/// The sum of `a * b * c` over a row.
#[inline(always)]
pub(super) fn dot3<T: Number>(a: &[T], b: &[T], c: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest), (c, c_rest)) =
        (a.as_chunks::<LANES>(), b.as_chunks::<LANES>(), c.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        for (((sum, a), b), c) in sums.iter_mut().zip(a).zip(b).zip(c) {
            *sum += a.wide() * b.wide() * c;
        }
    }
    let tail: f32 = a_rest.iter().zip(b_rest).zip(c_rest).map(|((a, b), c)| a.wide() * b.wide() * c).sum();
    sums.iter().sum::<f32>() + tail
}
