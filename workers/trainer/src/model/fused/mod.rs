//! The decoder on the CPU with gradients written out: fewer passes over memory than libtorch's own graph takes, weights
//! converted once a step instead of once a pass, and nothing remembered that is quicker to compute again.
//!
//! 1. forward through all layers but the last, keeping for each what its gradient needs (about 17 numbers of the hidden width
//!    a token for Qwen3-0.6B, half of what the graph would keep)
//! 2. the last layer, the head and the loss in libtorch's graph: it scores the ends of texts only
//! 3. backward through the layers from what that left, adding to the gradients of the weights
//!
//! [`Model::forward`] is the reference: it gives the same scores and gradients, and tests hold the two against each other.

mod attention;
mod layer;
mod linear;

use tch::{Device, TchError, Tensor, no_grad};

use super::Model;
use crate::kernels::number::Bf16;
use crate::pack::{Batch, Unit};
use attention::Layout;
use layer::{FusedLayer, Kept, Scene};
use linear::make_gradient;

/// The layers below the last.
#[derive(Debug)]
pub struct Fused {
    layers: Vec<FusedLayer>,
}

impl Fused {
    /// Takes over a model, which must be on the CPU. Weights that are not trained are held once, in the model's kind.
    ///
    /// # Errors
    /// When libtorch fails, or the model is elsewhere.
    pub fn new(model: &mut Model) -> Result<Self, TchError> {
        if model.device != Device::Cpu {
            return Err(TchError::Kind("the CPU's kernels were given a model on another device".to_owned()));
        }
        let kind = model.compute;
        let below = model.layers.len().saturating_sub(1);
        let layers = model.layers.iter_mut().take(below).map(|layer| FusedLayer::new(layer, kind));
        let fused = Self { layers: no_grad(|| layers.collect::<Result<_, _>>())? };
        for weight in model.named.iter().chain(&model.adapters) {
            make_gradient(&weight.tensor)?;
        }
        Ok(fused)
    }

    /// Takes over weights that the optimizer has changed.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn refresh(&mut self) -> Result<(), TchError> {
        no_grad(|| self.layers.iter_mut().try_for_each(FusedLayer::refresh))
    }

    /// The loss of a pass, its gradient added to the weights. `loss` makes it of the scores, `[units, 2]`.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn pass(
        &self,
        model: &Model,
        units: &[&Unit],
        batch: &Batch,
        loss: impl FnOnce(&Tensor) -> Result<Tensor, TchError>,
    ) -> Result<f64, TchError> {
        let layout = Layout::new(units, model.compute)?;
        let scene = Scene::new(model, batch, &layout)?;
        let (x, kept) = no_grad(|| {
            let embedded = model.embedding.f_index_select(0, &batch.ids)?.f_to_kind(model.compute)?;
            self.forward(&scene, embedded)
        })?;
        let x = x.f_set_requires_grad(true)?;
        let loss = loss(&model.score_of_last(&x, batch)?)?;
        loss.f_backward()?;
        let dx = x.f_grad()?.f_contiguous()?;
        no_grad(|| self.backward(model, batch, &scene, kept, dx))?;
        loss.f_double_value(&[])
    }

    fn forward(&self, scene: &Scene<'_>, embedded: Tensor) -> Result<(Tensor, Vec<Kept>), TchError> {
        let mut kept = Vec::with_capacity(self.layers.len());
        let (mut x, mut delta) = (embedded, None);
        for layer in &self.layers {
            let (layer_kept, middle, added) = if scene.is_half() {
                layer.forward::<Bf16>(scene, x, delta)?
            } else {
                layer.forward::<f32>(scene, x, delta)?
            };
            kept.push(layer_kept);
            (x, delta) = (middle, Some(added));
        }
        Ok((
            match delta {
                Some(delta) => x.f_add(&delta)?,
                None => x,
            },
            kept,
        ))
    }

    fn backward(
        &self,
        model: &Model,
        batch: &Batch,
        scene: &Scene<'_>,
        mut kept: Vec<Kept>,
        mut dx: Tensor,
    ) -> Result<(), TchError> {
        let embedding_is_trained = model.embedding.requires_grad();
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let Some(kept) = kept.pop() else { break };
            let is_end = index == 0 && !embedding_is_trained;
            if scene.is_half() {
                layer.backward::<Bf16>(scene, kept, &mut dx, is_end)?;
            } else {
                layer.backward::<f32>(scene, kept, &mut dx, is_end)?;
            }
        }
        if embedding_is_trained {
            let _ = model.embedding.f_grad()?.f_index_add_(0, &batch.ids, &dx.f_to_kind(tch::Kind::Float)?)?;
        }
        Ok(())
    }
}
