//! Units as tensors.

use tch::{Device, Kind, TchError, Tensor};

use super::Unit;

/// Units as tensors. `n` is the number of tokens, `b` of units, `w` the length of the longest unit.
#[derive(Debug)]
pub struct Batch {
    /// Token ids, `[n]`.
    pub ids: Tensor,
    /// Position of each token in its text, `[n]`.
    pub positions: Tensor,
    /// For each cell of the grid the token that stands there, `[b * w]`; padding names any token.
    pub to_grid: Tensor,
    /// For each token its cell, `[n]`.
    pub from_grid: Tensor,
    /// What is added to the logits of attention: 0 where a cell may look, minus infinity where not, `[b, 1, w, w]`.
    /// `None` when each cell sees all before it, as in units of one text: attention is then plainly causal, which is
    /// computed at half the cost.
    pub mask: Option<Tensor>,
    /// The same for the cells of the last tokens alone, `[b, 1, 2, w]`.
    pub end_mask: Tensor,
    /// The token at which each text ends, `[2 * b]`, first and second text in turn.
    pub ends: Tensor,
    /// Units.
    pub units: i64,
    /// Length of the longest.
    pub width: i64,
    /// Tokens.
    pub tokens: usize,
}

const SHARED: i64 = 0;
const FIRST: i64 = 1;
const SECOND: i64 = 2;

impl Batch {
    /// Lays out units for a device; `kind` is the number type attention will be computed in.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn new(units: &[&Unit], device: Device, kind: Kind) -> Result<Self, TchError> {
        let width = units.iter().map(|unit| unit.len()).max().unwrap_or(0);
        let tokens: usize = units.iter().map(|unit| unit.len()).sum();
        let (mut ids, mut positions) = (Vec::with_capacity(tokens), Vec::with_capacity(tokens));
        let (mut to_grid, mut from_grid) = (Vec::with_capacity(units.len() * width), Vec::with_capacity(tokens));
        let mut branch = Vec::with_capacity(units.len() * width);
        let (mut ends, mut end_columns) = (Vec::new(), Vec::new());
        for (row, unit) in units.iter().enumerate() {
            let begin = ids.len();
            for (index, id) in unit.ids.iter().enumerate() {
                ids.push(i64::from(*id));
                positions.push(unit.position(index) as i64);
                from_grid.push((row * width + index) as i64);
                to_grid.push((begin + index) as i64);
                branch.push(branch_of(unit, index));
            }
            for _ in unit.len()..width {
                to_grid.push(begin as i64);
                branch.push(SECOND);
            }
            ends.extend(unit.ends().map(|end| (begin + end) as i64));
            end_columns.extend(unit.ends().map(|end| end as i64));
        }
        let tensor = |values: &[i64]| Tensor::f_from_slice(values)?.f_to_device(device);
        let shape = [units.len() as i64, width as i64];
        let mask = mask(&tensor(&branch)?.f_view(shape)?, kind)?;
        let rows = tensor(&end_columns)?.f_view([shape[0], 1, 2, 1])?.f_expand([shape[0], 1, 2, shape[1]], false)?;
        Ok(Self {
            ids: tensor(&ids)?,
            positions: tensor(&positions)?,
            to_grid: tensor(&to_grid)?,
            from_grid: tensor(&from_grid)?,
            end_mask: mask.f_gather(2, &rows, false)?,
            mask: units.iter().any(|unit| !unit.is_single()).then_some(mask),
            ends: tensor(&ends)?,
            units: shape[0],
            width: shape[1],
            tokens,
        })
    }
}

fn branch_of(unit: &Unit, index: usize) -> i64 {
    if index < unit.shared {
        SHARED
    } else if index < unit.shared + unit.first {
        FIRST
    } else {
        SECOND
    }
}

/// A cell sees those before it and itself, but the second branch does not see the first. Padding stands behind every
/// token of its row, so no token sees it.
fn mask(branch: &Tensor, kind: Kind) -> Result<Tensor, TchError> {
    let width = branch.size()[1];
    let seen = Tensor::f_ones([width, width], (Kind::Bool, branch.device()))?.f_tril(0)?;
    let second = branch.f_eq(SECOND)?.f_unsqueeze(2)?;
    let first = branch.f_eq(FIRST)?.f_unsqueeze(1)?;
    let hidden = second.f_logical_and(&first)?.f_logical_or(&seen.f_logical_not()?)?;
    let zero = Tensor::f_zeros(hidden.size(), (kind, branch.device()))?;
    zero.f_masked_fill(&hidden, f64::NEG_INFINITY)?.f_unsqueeze(1)
}
