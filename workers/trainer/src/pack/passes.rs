//! A step's pairs in passes of bounded size.

use tch::{TchError, Tensor};

use super::{Example, Unit};

/// Units that are computed at once, all of one kind.
#[derive(Debug)]
pub struct Pass<'a> {
    /// The units; those of a pair apart follow each other.
    pub units: Vec<&'a Unit>,
    packed: bool,
    width: usize,
}

impl Pass<'_> {
    /// The scores of the pairs, `[pairs, 2]`, chosen first, from those of the units, `[units, 2]`.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn pair_scores(&self, unit_scores: &Tensor) -> Result<Tensor, TchError> {
        if self.packed { Ok(unit_scores.shallow_clone()) } else { unit_scores.f_select(1, 0)?.f_reshape([-1, 2]) }
    }
}

/// Splits a step's pairs into passes of at most `tokens_per_pass` cells, padding included; a pair of more has a pass of
/// its own. Pairs of a kind keep their order.
pub fn passes<'a>(examples: &[&'a Example], tokens_per_pass: usize) -> Vec<Pass<'a>> {
    let mut passes: Vec<Pass<'a>> = Vec::new();
    for packed in [true, false] {
        let first = passes.len();
        for example in examples {
            let units: Vec<&Unit> = match example {
                Example::Packed(unit) if packed => vec![unit],
                Example::Apart(units) if !packed => units.iter().collect(),
                Example::Packed(_) | Example::Apart(_) => continue,
            };
            let longest = units.iter().map(|unit| unit.len()).max().unwrap_or(0);
            match passes[first..].last_mut() {
                Some(pass) if pass.width.max(longest) * (pass.units.len() + units.len()) <= tokens_per_pass => {
                    pass.width = pass.width.max(longest);
                    pass.units.extend(units);
                }
                _ => passes.push(Pass { units, packed, width: longest }),
            }
        }
    }
    passes
}
