//! Attention over units that lie end to end, each by itself: nothing is padded, and no cell is computed that is not seen.
//!
//! A unit of two texts takes two calls. Shared part and first branch together are plainly causal; the second branch looks back
//! at the shared part and itself. The gradients of the shared part's keys and values are the sums of both.

use tch::{Device, Kind, TchError, Tensor};

use crate::pack::Unit;

/// Sizes of the heads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) heads: i64,
    pub(super) kv_heads: i64,
    pub(super) head_dim: i64,
}

/// Where a unit's tokens lie.
#[derive(Debug)]
struct Place {
    begin: i64,
    shared: i64,
    /// Tokens of the shared part and the first branch.
    first_end: i64,
    second: i64,
    /// What is added to the logits of the second branch, `[second, shared + second]`.
    mask: Option<Tensor>,
}

/// The units of a pass.
#[derive(Debug)]
pub(super) struct Layout {
    places: Vec<Place>,
}

/// Queries, keys and values of all tokens, `[tokens, heads * head_dim]` each.
pub(super) struct Inputs<'a> {
    pub(super) q: &'a Tensor,
    pub(super) k: &'a Tensor,
    pub(super) v: &'a Tensor,
}

impl Layout {
    pub(super) fn new(units: &[&Unit], kind: Kind) -> Result<Self, TchError> {
        let mut begin = 0;
        let mut places = Vec::with_capacity(units.len());
        for unit in units {
            let (shared, first_end) = (unit.shared as i64, (unit.shared + unit.first) as i64);
            let second = unit.len() as i64 - first_end;
            let mask = (second > 0 && shared > 0).then(|| looking_back(second, shared, kind)).transpose()?;
            places.push(Place { begin, shared, first_end, second, mask });
            begin += unit.len() as i64;
        }
        Ok(Self { places })
    }

    /// What each token attends to, `[tokens, heads * head_dim]`, and for each call what its gradient needs besides.
    pub(super) fn forward(&self, sizes: Sizes, inputs: &Inputs<'_>) -> Result<(Tensor, Vec<Tensor>), TchError> {
        let mixed = inputs.q.f_empty_like()?;
        let mut sums = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let mut call = |begin: i64, length: i64, k: &Tensor, v: &Tensor, mask: Option<&Tensor>| {
                let q = split(&inputs.q.f_narrow(0, begin, length)?, sizes.heads)?;
                let (k, v) = (split(k, sizes.kv_heads)?, split(v, sizes.kv_heads)?);
                let (out, sum) = Tensor::f_internal_scaled_dot_product_flash_attention_for_cpu(
                    &q,
                    &k,
                    &v,
                    0.0,
                    mask.is_none(),
                    mask,
                    None,
                )?;
                mixed.f_narrow(0, begin, length)?.f_copy_(&join(&out)?)?;
                sums.push(sum);
                Ok::<(), TchError>(())
            };
            let (k, v) = place.first(inputs)?;
            call(place.begin, place.first_end, &k, &v, None)?;
            if place.second > 0 {
                let (k, v) = place.second(inputs)?;
                call(place.begin + place.first_end, place.second, &k, &v, place.mask.as_ref())?;
            }
        }
        Ok((mixed, sums))
    }

    /// The gradients of queries, keys and values from that of the result, each `[tokens, heads * head_dim]`.
    pub(super) fn backward(
        &self,
        sizes: Sizes,
        inputs: &Inputs<'_>,
        mixed: &Tensor,
        sums: &[Tensor],
        dmixed: &Tensor,
    ) -> Result<[Tensor; 3], TchError> {
        let (dq, dk, dv) = (inputs.q.f_empty_like()?, inputs.k.f_empty_like()?, inputs.k.f_empty_like()?);
        let mut sums = sums.iter();
        for place in &self.places {
            let mut call = |begin: i64, length: i64, k: &Tensor, v: &Tensor, mask: Option<&Tensor>| {
                let sum = sums.next().ok_or_else(|| TchError::Shape("a call without its sum".to_owned()))?;
                let rows = |tensor: &Tensor| split(&tensor.f_narrow(0, begin, length)?, sizes.heads);
                let (dq_part, dk, dv) = Tensor::f_internal_scaled_dot_product_flash_attention_for_cpu_backward(
                    &rows(dmixed)?,
                    &rows(inputs.q)?,
                    &split(k, sizes.kv_heads)?,
                    &split(v, sizes.kv_heads)?,
                    &rows(mixed)?,
                    sum,
                    0.0,
                    mask.is_none(),
                    mask,
                    None,
                )?;
                dq.f_narrow(0, begin, length)?.f_copy_(&join(&dq_part)?)?;
                Ok::<_, TchError>((join(&dk)?, join(&dv)?))
            };
            let (k, v) = place.first(inputs)?;
            let (dk_part, dv_part) = call(place.begin, place.first_end, &k, &v, None)?;
            dk.f_narrow(0, place.begin, place.first_end)?.f_copy_(&dk_part)?;
            dv.f_narrow(0, place.begin, place.first_end)?.f_copy_(&dv_part)?;
            if place.second > 0 {
                let begin = place.begin + place.first_end;
                let (k, v) = place.second(inputs)?;
                let (dk_part, dv_part) = call(begin, place.second, &k, &v, place.mask.as_ref())?;
                for (whole, part) in [(&dk, &dk_part), (&dv, &dv_part)] {
                    whole.f_narrow(0, begin, place.second)?.f_copy_(&part.f_narrow(
                        0,
                        place.shared,
                        place.second,
                    )?)?;
                    let _ =
                        whole.f_narrow(0, place.begin, place.shared)?.f_add_(&part.f_narrow(0, 0, place.shared)?)?;
                }
            }
        }
        Ok([dq, dk, dv])
    }
}

impl Place {
    /// Keys and values of the first call.
    fn first(&self, inputs: &Inputs<'_>) -> Result<(Tensor, Tensor), TchError> {
        let rows = |tensor: &Tensor| tensor.f_narrow(0, self.begin, self.first_end);
        Ok((rows(inputs.k)?, rows(inputs.v)?))
    }

    /// Keys and values of the second.
    fn second(&self, inputs: &Inputs<'_>) -> Result<(Tensor, Tensor), TchError> {
        let rows = |tensor: &Tensor| {
            let shared = tensor.f_narrow(0, self.begin, self.shared)?;
            let own = tensor.f_narrow(0, self.begin + self.first_end, self.second)?;
            Tensor::f_cat(&[shared, own], 0)
        };
        Ok((rows(inputs.k)?, rows(inputs.v)?))
    }
}

/// `[rows, heads * head_dim]` as `[1, heads, rows, head_dim]`, without a copy.
fn split(rows: &Tensor, heads: i64) -> Result<Tensor, TchError> {
    let size = rows.size();
    rows.f_view([size[0], heads, size[1] / heads])?.f_transpose(0, 1)?.f_unsqueeze(0)
}

/// And back, without a copy where libtorch laid the result out by rows, as it does.
fn join(heads: &Tensor) -> Result<Tensor, TchError> {
    let rows = heads.f_squeeze_dim(0)?.f_transpose(0, 1)?;
    rows.f_reshape([rows.size()[0], -1])
}

fn looking_back(second: i64, shared: i64, kind: Kind) -> Result<Tensor, TchError> {
    let seen = Tensor::f_ones([second, shared + second], (Kind::Bool, Device::Cpu))?.f_tril(shared)?;
    Tensor::f_zeros(seen.size(), (kind, Device::Cpu))?.f_masked_fill(&seen.f_logical_not()?, f64::NEG_INFINITY)
}
