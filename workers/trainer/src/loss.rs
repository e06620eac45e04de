//! The Bradley-Terry loss of a pair: `-log sigmoid(r_chosen - r_rejected)` (Bradley and Terry, 1952).

use tch::{Kind, TchError, Tensor};

/// The sum over pairs, in fp32. `scores` is `[pairs, 2]`, chosen first. `center` adds `center * (r_c + r_r)^2` for each
/// pair.
///
/// # Errors
/// When libtorch fails.
pub fn bradley_terry(scores: &Tensor, center: f64) -> Result<Tensor, TchError> {
    let scores = scores.f_to_kind(Kind::Float)?;
    let (chosen, rejected) = (scores.f_select(1, 0)?, scores.f_select(1, 1)?);
    let loss = chosen.f_sub(&rejected)?.f_log_sigmoid()?.f_neg()?.f_sum(Kind::Float)?;
    if center == 0.0 {
        return Ok(loss);
    }
    let off_center = chosen.f_add(&rejected)?.f_square()?.f_sum(Kind::Float)?;
    loss.f_add(&off_center.f_mul_scalar(center)?)
}
