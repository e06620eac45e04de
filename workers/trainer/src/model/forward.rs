//! From a batch to scores.

use tch::{Kind, TchError, Tensor, no_grad};

use super::{Layer, Linear, Model};
use crate::pack::{Batch, Unit};

/// A layer's queries: every token, or those at which a text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queries {
    All,
    Ends,
}

/// The angles of some tokens, `[tokens, 1, head_dim]`.
struct Angles {
    cos: Tensor,
    sin: Tensor,
}

impl Model {
    /// The scores of the two texts of each unit, `[units, 2]`, fp32.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn forward(&self, batch: &Batch) -> Result<Tensor, TchError> {
        self.head(&self.hidden(batch)?, batch)
    }

    /// What the head reads of the texts of each unit, `[2 * units, hidden]`, fp32.
    fn hidden(&self, batch: &Batch) -> Result<Tensor, TchError> {
        let mut x = self.embedding.f_index_select(0, &batch.ids)?.f_to_kind(self.compute)?;
        let angles = self.angles(&batch.positions)?;
        let below = self.layers.len().saturating_sub(1);
        for layer in &self.layers[..below] {
            x = self.layer(layer, &x, batch, &angles, Queries::All)?;
        }
        self.hidden_of_last(&x, batch)
    }

    /// The scores from what goes into the last layer, `[tokens, hidden]`.
    pub(super) fn score_of_last(&self, x: &Tensor, batch: &Batch) -> Result<Tensor, TchError> {
        self.head(&self.hidden_of_last(x, batch)?, batch)
    }

    fn hidden_of_last(&self, x: &Tensor, batch: &Batch) -> Result<Tensor, TchError> {
        let angles = self.angles(&batch.positions)?;
        let x = match self.layers.last() {
            // Only the last tokens are scored: what the last layer makes of the others is read by nobody.
            Some(layer) => self.layer(layer, x, batch, &angles, Queries::Ends)?,
            None => x.f_index_select(0, &batch.ends)?,
        };
        self.norm(&x, &self.final_norm)?.f_to_kind(Kind::Float)
    }

    fn head(&self, hidden: &Tensor, batch: &Batch) -> Result<Tensor, TchError> {
        hidden.f_linear(&self.score, None::<&Tensor>)?.f_view([batch.units, 2])
    }

    /// The score of each text by itself, computed together, without a gradient.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn score(&self, texts: &[&[u32]]) -> Result<Vec<f32>, TchError> {
        let units: Vec<Unit> = texts.iter().map(|ids| Unit::single(ids)).collect();
        let batch = Batch::new(&units.iter().collect::<Vec<_>>(), self.device, self.compute)?;
        let scores = no_grad(|| self.forward(&batch))?.f_select(1, 0)?.f_contiguous()?;
        Vec::<f32>::try_from(&scores)
    }

    /// What the head reads of each text, `[texts, hidden]`, fp32: the same for every head.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn last_hidden(&self, texts: &[&[u32]]) -> Result<Tensor, TchError> {
        let units: Vec<Unit> = texts.iter().map(|ids| Unit::single(ids)).collect();
        let batch = Batch::new(&units.iter().collect::<Vec<_>>(), self.device, self.compute)?;
        let hidden = no_grad(|| self.hidden(&batch))?;
        hidden.f_view([batch.units, 2, -1])?.f_select(1, 0)?.f_contiguous()
    }

    fn layer(
        &self,
        layer: &Layer,
        x: &Tensor,
        batch: &Batch,
        angles: &Angles,
        queries: Queries,
    ) -> Result<Tensor, TchError> {
        let normed = self.norm(x, &layer.input_norm)?;
        let attended = self.attention(layer, &normed, batch, angles, queries)?;
        let x = match queries {
            Queries::All => x.f_add(&attended)?,
            Queries::Ends => x.f_index_select(0, &batch.ends)?.f_add(&attended)?,
        };
        let normed = self.norm(&x, &layer.mlp_norm)?;
        let gate = self.linear(&normed, &layer.gate)?.f_silu()?;
        let inner = gate.f_mul(&self.linear(&normed, &layer.up)?)?;
        x.f_add(&self.linear(&inner, &layer.down)?)
    }

    fn attention(
        &self,
        layer: &Layer,
        normed: &Tensor,
        batch: &Batch,
        angles: &Angles,
        queries: Queries,
    ) -> Result<Tensor, TchError> {
        let (heads, kv_heads) = (self.config.heads as i64, self.config.kv_heads as i64);
        let (q_norm, k_norm) = layer.qk_norm.as_ref().map_or((None, None), |(q, k)| (Some(q), Some(k)));
        let k = self.heads(normed, &layer.k, kv_heads, k_norm)?;
        let k = self.rotate(&k, angles)?;
        let v = self.heads(normed, &layer.v, kv_heads, None)?;
        let (k, v) = (self.grid(&k, batch)?, self.grid(&v, batch)?);
        let (q, mask) = match queries {
            Queries::All => {
                let q = self.rotate(&self.heads(normed, &layer.q, heads, q_norm)?, angles)?;
                (self.grid(&q, batch)?, batch.mask.as_ref())
            }
            Queries::Ends => {
                let at = |t: &Tensor| t.f_index_select(0, &batch.ends);
                let ends = Angles { cos: at(&angles.cos)?, sin: at(&angles.sin)? };
                let q = self.rotate(&self.heads(&at(normed)?, &layer.q, heads, q_norm)?, &ends)?;
                (q.f_view([batch.units, 2, heads, -1])?.f_transpose(1, 2)?, Some(&batch.end_mask))
            }
        };
        let grouped = heads != kv_heads;
        let causal = mask.is_none();
        let mixed = Tensor::f_scaled_dot_product_attention(&q, &k, &v, mask, 0.0, causal, None, grouped)?;
        let mixed = mixed.f_transpose(1, 2)?.f_reshape([-1, heads * self.config.head_dim as i64])?;
        match queries {
            Queries::All => self.linear(&mixed.f_index_select(0, &batch.from_grid)?, &layer.o),
            Queries::Ends => self.linear(&mixed, &layer.o),
        }
    }

    /// A projection split into heads, `[tokens, heads, head_dim]`, normed over the head where there is a norm.
    fn heads(&self, x: &Tensor, linear: &Linear, heads: i64, norm: Option<&Tensor>) -> Result<Tensor, TchError> {
        let split = self.linear(x, linear)?.f_view([-1, heads, self.config.head_dim as i64])?;
        match norm {
            Some(weight) => self.norm(&split, weight),
            None => Ok(split),
        }
    }

    /// `[tokens, heads, head_dim]` laid out as `[units, heads, width, head_dim]`.
    fn grid(&self, x: &Tensor, batch: &Batch) -> Result<Tensor, TchError> {
        let heads = x.size()[1];
        x.f_index_select(0, &batch.to_grid)?.f_view([batch.units, batch.width, heads, -1])?.f_transpose(1, 2)
    }

    fn angles(&self, positions: &Tensor) -> Result<Angles, TchError> {
        let at = |table: &Tensor| table.f_index_select(0, positions)?.f_unsqueeze(1);
        Ok(Angles { cos: at(&self.cos)?, sin: at(&self.sin)? })
    }

    /// Rotary positions: the first half of a head is paired with the second (Su et al., "RoFormer", 2021, in the
    /// pairing of GPT-NeoX). Angles are fp32 whatever `x` is: in bf16 they would be off by whole turns of meaning.
    fn rotate(&self, x: &Tensor, angles: &Angles) -> Result<Tensor, TchError> {
        let wide = x.f_to_kind(Kind::Float)?;
        let halves = wide.f_chunk(2, -1)?;
        let turned = Tensor::f_cat(&[&halves[1].f_neg()?, &halves[0]], -1)?;
        let rotated = wide.f_mul(&angles.cos)?.f_add(&turned.f_mul(&angles.sin)?)?;
        rotated.f_to_kind(self.compute)
    }

    /// `x / sqrt(mean(x^2) + eps)` in fp32, back in `x`'s kind before the weight is applied, as transformers does.
    fn norm(&self, x: &Tensor, weight: &Tensor) -> Result<Tensor, TchError> {
        let wide = x.f_to_kind(Kind::Float)?;
        let mean_square = wide.f_square()?.f_mean_dim(&[-1_i64][..], true, Kind::Float)?;
        let scale = mean_square.f_add_scalar(self.config.norm_eps)?.f_rsqrt()?;
        wide.f_mul(&scale)?.f_to_kind(self.compute)?.f_mul(&weight.f_to_kind(self.compute)?)
    }

    fn linear(&self, x: &Tensor, linear: &Linear) -> Result<Tensor, TchError> {
        let weight = linear.weight.f_to_kind(self.compute)?;
        let bias = linear.bias.as_ref().map(|bias| bias.f_to_kind(self.compute)).transpose()?;
        let y = x.f_linear(&weight, bias.as_ref())?;
        match &linear.adapter {
            Some(adapter) => y.f_add(&adapter.forward(x)?),
            None => Ok(y),
        }
    }
}
