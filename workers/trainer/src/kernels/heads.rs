//! Queries and keys between their projection and attention: the norm over the head, where the family has one, then rotary
//! positions (Su et al., "RoFormer", 2021; the first half of a head is paired with the second, as GPT-NeoX does).

use super::norm::{dot3, inverse_root};
use super::number::Number;
use super::{add_up, rows_per_thread, spread, vectorised};

/// Where some heads of each token stand in the projection's row, and what is done to them.
#[derive(Debug, Clone, Copy)]
pub struct Heads<'a> {
    /// Width of the projection's row.
    pub row: usize,
    /// First number of the first head in it.
    pub begin: usize,
    /// How many.
    pub heads: usize,
    /// Numbers of one.
    pub head_dim: usize,
    /// The norm's weight, if there is a norm.
    pub norm: Option<&'a [f32]>,
    /// Added to the mean square.
    pub eps: f32,
    /// Cosines of the angles, a row of `head_dim` for each position, both halves alike.
    pub cos: &'a [f32],
    /// Sines.
    pub sin: &'a [f32],
    /// Position of each token.
    pub positions: &'a [i64],
}

impl Heads<'_> {
    fn width(&self) -> usize {
        self.heads * self.head_dim
    }

    fn tokens_per_thread(&self) -> usize {
        rows_per_thread(self.positions.len(), self.width())
    }
}

/// Norms and rotates the heads of `projected` into `out`, `[tokens, heads * head_dim]`.
pub fn norm_rotate<T: Number>(heads: &Heads<'_>, projected: &[T], out: &mut [T]) {
    let tokens = heads.tokens_per_thread();
    let inputs = projected.chunks(tokens * heads.row).zip(heads.positions.chunks(tokens));
    let parts: Vec<_> = inputs.zip(out.chunks_mut(tokens * heads.width())).collect();
    spread(parts, |((projected, positions), out)| forward_tokens(heads, projected, positions, out));
}

/// The gradient of the projection's heads, in their places in `dprojected`, from that of `out`. Returns the gradient of the
/// norm's weight, empty without a norm.
pub fn norm_rotate_backward<T: Number>(
    heads: &Heads<'_>,
    projected: &[T],
    dout: &[T],
    dprojected: &mut [T],
) -> Vec<f32> {
    let tokens = heads.tokens_per_thread();
    let inputs = projected.chunks(tokens * heads.row).zip(heads.positions.chunks(tokens));
    let outputs = dout.chunks(tokens * heads.width()).zip(dprojected.chunks_mut(tokens * heads.row));
    let parts: Vec<_> = inputs.zip(outputs).collect();
    let sums = spread(parts, |((projected, positions), (dout, dprojected))| {
        let mut dweight = vec![0.0; heads.norm.map_or(0, <[f32]>::len)];
        backward_tokens(heads, projected, positions, dout, dprojected, &mut dweight);
        dweight
    });
    add_up(sums)
}

vectorised! {
    fn forward_tokens<T>(heads: &Heads<'_>, projected: &[T], positions: &[i64], out: &mut [T]) {
        let (dim, half) = (heads.head_dim, heads.head_dim / 2);
        let rows = projected.chunks_exact(heads.row).zip(out.chunks_exact_mut(heads.width()));
        for ((row, out), position) in rows.zip(positions) {
            let (cos, sin) = angles(heads, *position);
            let row = &row[heads.begin..heads.begin + heads.width()];
            for (x, out) in row.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
                let ((x1, x2), (y1, y2)) = (x.split_at(half), out.split_at_mut(half));
                match heads.norm {
                    None => {
                        for (((((y1, y2), x1), x2), cos), sin) in
                            y1.iter_mut().zip(y2).zip(x1).zip(x2).zip(cos).zip(sin)
                        {
                            let (x1, x2) = (x1.wide(), x2.wide());
                            *y1 = T::nearest(x1 * cos - x2 * sin);
                            *y2 = T::nearest(x2 * cos + x1 * sin);
                        }
                    }
                    Some(weight) => {
                        let scale = inverse_root(x, heads.eps);
                        let (w1, w2) = weight.split_at(half);
                        for (((((((y1, y2), x1), x2), w1), w2), cos), sin) in
                            y1.iter_mut().zip(y2).zip(x1).zip(x2).zip(w1).zip(w2).zip(cos).zip(sin)
                        {
                            let (x1, x2) = (x1.wide() * scale * w1, x2.wide() * scale * w2);
                            *y1 = T::nearest(x1 * cos - x2 * sin);
                            *y2 = T::nearest(x2 * cos + x1 * sin);
                        }
                    }
                }
            }
        }
    }
}

vectorised! {
    fn backward_tokens<T>(
        heads: &Heads<'_>,
        projected: &[T],
        positions: &[i64],
        dout: &[T],
        dprojected: &mut [T],
        dweight: &mut [f32],
    ) {
        let (dim, half) = (heads.head_dim, heads.head_dim / 2);
        let rows = projected.chunks_exact(heads.row).zip(dprojected.chunks_exact_mut(heads.row));
        for (((row, drow), dout), position) in rows.zip(dout.chunks_exact(heads.width())).zip(positions) {
            let (cos, sin) = angles(heads, *position);
            let part = heads.begin..heads.begin + heads.width();
            let heads_of = row[part.clone()].chunks_exact(dim).zip(drow[part].chunks_exact_mut(dim));
            for ((x, dx), dy) in heads_of.zip(dout.chunks_exact(dim)) {
                // Turned back: the gradient before the rotation.
                let ((d1, d2), (dy1, dy2)) = (dx.split_at_mut(half), dy.split_at(half));
                for (((((d1, d2), dy1), dy2), cos), sin) in d1.iter_mut().zip(d2).zip(dy1).zip(dy2).zip(cos).zip(sin) {
                    let (dy1, dy2) = (dy1.wide(), dy2.wide());
                    *d1 = T::nearest(dy1 * cos + dy2 * sin);
                    *d2 = T::nearest(dy2 * cos - dy1 * sin);
                }
                let Some(weight) = heads.norm else { continue };
                let scale = inverse_root(x, heads.eps);
                let along = dot3(x, dx, weight) * scale * scale / dim as f32;
                for (((dx, x), weight), dweight) in dx.iter_mut().zip(x).zip(weight).zip(dweight.iter_mut()) {
                    let (x, dy) = (x.wide(), dx.wide());
                    *dweight += dy * x * scale;
                    *dx = T::nearest((dy * weight - x * along) * scale);
                }
            }
        }
    }
}

/// Cosines and sines of a position, for one half of a head.
#[inline(always)]
fn angles<'a>(heads: &Heads<'a>, position: i64) -> (&'a [f32], &'a [f32]) {
    let begin = position as usize * heads.head_dim;
    let half = heads.head_dim / 2;
    (&heads.cos[begin..begin + half], &heads.sin[begin..begin + half])
}
