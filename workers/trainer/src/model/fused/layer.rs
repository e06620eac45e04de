//! One decoder layer and its gradient.

use tch::{Kind, TchError, Tensor};

use super::attention::{Inputs, Layout, Sizes};
use super::linear::{Group, add_gradient};
use crate::kernels::heads::{Heads, norm_rotate, norm_rotate_backward};
use crate::kernels::memory::{numbers, numbers_mut};
use crate::kernels::norm::{add_norm, norm_backward};
use crate::kernels::number::Number;
use crate::kernels::swiglu::{swiglu, swiglu_backward};
use crate::model::{Layer, Model};
use crate::pack::Batch;

/// What is the same for all layers of a pass.
pub(super) struct Scene<'a> {
    layout: &'a Layout,
    sizes: Sizes,
    kind: Kind,
    eps: f32,
    cos: &'a [f32],
    sin: &'a [f32],
    positions: &'a [i64],
}

impl<'a> Scene<'a> {
    pub(super) fn new(model: &'a Model, batch: &'a Batch, layout: &'a Layout) -> Result<Self, TchError> {
        let config = &model.config;
        let sizes =
            Sizes { heads: config.heads as i64, kv_heads: config.kv_heads as i64, head_dim: config.head_dim as i64 };
        Ok(Self {
            layout,
            sizes,
            kind: model.compute,
            eps: config.norm_eps as f32,
            cos: numbers(&model.cos)?,
            sin: numbers(&model.sin)?,
            positions: numbers(&batch.positions)?,
        })
    }

    /// Whether it is computed in bfloat16.
    pub(super) fn is_half(&self) -> bool {
        self.kind == Kind::BFloat16
    }

    /// Where queries (`false`) or keys (`true`) stand in the projection.
    fn heads<'b>(&'b self, keys: bool, norm: Option<&'b [f32]>) -> Heads<'b> {
        let Sizes { heads, kv_heads, head_dim } = self.sizes;
        Heads {
            row: ((heads + 2 * kv_heads) * head_dim) as usize,
            begin: if keys { (heads * head_dim) as usize } else { 0 },
            heads: if keys { kv_heads } else { heads } as usize,
            head_dim: head_dim as usize,
            norm,
            eps: self.eps,
            cos: self.cos,
            sin: self.sin,
            positions: self.positions,
        }
    }

    /// First number of the values in the projection, and how many they are.
    fn values(&self) -> (i64, i64) {
        let Sizes { heads, kv_heads, head_dim } = self.sizes;
        ((heads + kv_heads) * head_dim, kv_heads * head_dim)
    }

    fn empty(&self, columns: i64) -> Result<Tensor, TchError> {
        Tensor::f_empty([self.positions.len() as i64, columns], (self.kind, tch::Device::Cpu))
    }
}

/// A layer's weights, its projections grouped by their input.
#[derive(Debug)]
pub(super) struct FusedLayer {
    input_norm: Tensor,
    qkv: Group,
    qk_norm: Option<(Tensor, Tensor)>,
    o: Group,
    mlp_norm: Tensor,
    gate_up: Group,
    down: Group,
}

/// What a layer's gradient needs of its forward pass, all `[tokens, …]`.
pub(super) struct Kept {
    x: Tensor,
    projected: Tensor,
    q: Tensor,
    k: Tensor,
    mixed: Tensor,
    sums: Vec<Tensor>,
    middle: Tensor,
    gate_up: Tensor,
}

impl FusedLayer {
    pub(super) fn new(layer: &mut Layer, kind: Kind) -> Result<Self, TchError> {
        Ok(Self {
            input_norm: layer.input_norm.shallow_clone(),
            qkv: Group::new(&mut [&mut layer.q, &mut layer.k, &mut layer.v], kind)?,
            qk_norm: layer.qk_norm.as_ref().map(|(q, k)| (q.shallow_clone(), k.shallow_clone())),
            o: Group::new(&mut [&mut layer.o], kind)?,
            mlp_norm: layer.mlp_norm.shallow_clone(),
            gate_up: Group::new(&mut [&mut layer.gate, &mut layer.up], kind)?,
            down: Group::new(&mut [&mut layer.down], kind)?,
        })
    }

    pub(super) fn refresh(&mut self) -> Result<(), TchError> {
        [&mut self.qkv, &mut self.o, &mut self.gate_up, &mut self.down].into_iter().try_for_each(Group::refresh)
    }

    /// The layer of `x + delta`: what to keep, and the result as a sum still to be made, so that the next norm can make it.
    pub(super) fn forward<T: Number>(
        &self,
        scene: &Scene<'_>,
        x: Tensor,
        delta: Option<Tensor>,
    ) -> Result<(Kept, Tensor, Tensor), TchError> {
        let (x, normed) = add_and_norm::<T>(scene, x, delta, &self.input_norm)?;
        let projected = self.qkv.forward(&normed)?;
        let (q, k) = self.rotated::<T>(scene, &projected)?;
        let (begin, width) = scene.values();
        let v = projected.f_narrow(1, begin, width)?;
        let (mixed, sums) = scene.layout.forward(scene.sizes, &Inputs { q: &q, k: &k, v: &v })?;
        let attended = self.o.forward(&mixed)?;
        let (middle, normed) = add_and_norm::<T>(scene, x.shallow_clone(), Some(attended), &self.mlp_norm)?;
        let gate_up = self.gate_up.forward(&normed)?;
        let width = gate_up.size()[1] / 2;
        let mut inner = scene.empty(width)?;
        swiglu::<T>(numbers(&gate_up)?, width as usize, numbers_mut(&mut inner)?);
        let added = self.down.forward(&inner)?;
        let result = middle.shallow_clone();
        Ok((Kept { x, projected, q, k, mixed, sums, middle, gate_up }, result, added))
    }

    fn rotated<T: Number>(&self, scene: &Scene<'_>, projected: &Tensor) -> Result<(Tensor, Tensor), TchError> {
        let Sizes { heads, kv_heads, head_dim } = scene.sizes;
        let [q_norm, k_norm] = self.norms()?;
        let (mut q, mut k) = (scene.empty(heads * head_dim)?, scene.empty(kv_heads * head_dim)?);
        let row = numbers::<T>(projected)?;
        norm_rotate(&scene.heads(false, q_norm), row, numbers_mut(&mut q)?);
        norm_rotate(&scene.heads(true, k_norm), row, numbers_mut(&mut k)?);
        Ok((q, k))
    }

    /// Weights of the norms of queries and of keys.
    fn norms(&self) -> Result<[Option<&[f32]>; 2], TchError> {
        match &self.qk_norm {
            None => Ok([None, None]),
            Some((q, k)) => Ok([Some(numbers(q)?), Some(numbers(k)?)]),
        }
    }

    /// Turns `dx`, the gradient of the layer's result, into that of what it was made of, and adds the weights' gradients.
    /// `is_end` says that nobody will ask for the former.
    pub(super) fn backward<T: Number>(
        &self,
        scene: &Scene<'_>,
        kept: Kept,
        dx: &mut Tensor,
        is_end: bool,
    ) -> Result<(), TchError> {
        let Kept { x, mut projected, q, k, mixed, sums, middle, mut gate_up } = kept;
        self.mlp_backward::<T>(scene, &middle, &mut gate_up, dx)?;
        drop((gate_up, middle));

        let dmixed = self.o.input_gradient(dx)?;
        self.o.weight_gradient(dx, &mixed)?;
        let (begin, width) = scene.values();
        let v = projected.f_narrow(1, begin, width)?;
        let inputs = Inputs { q: &q, k: &k, v: &v };
        let [dq, dk, dv] = scene.layout.backward(scene.sizes, &inputs, &mixed, &sums, &dmixed)?;
        drop((q, k, mixed, dmixed));

        let mut dprojected = projected.f_empty_like()?;
        dprojected.f_narrow(1, begin, width)?.f_copy_(&dv)?;
        let [q_norm, k_norm] = self.norms()?;
        for (keys, norm, dout) in [(false, q_norm, &dq), (true, k_norm, &dk)] {
            let heads = scene.heads(keys, norm);
            let dnorm =
                norm_rotate_backward::<T>(&heads, numbers(&projected)?, numbers(dout)?, numbers_mut(&mut dprojected)?);
            if let Some((q, k)) = &self.qk_norm {
                add_numbers(if keys { k } else { q }, &dnorm)?;
            }
        }
        // Its memory is needed no more; it takes the norm of `x`.
        drop(v);
        projected = self.normed::<T>(scene, &x, &self.input_norm)?;
        self.qkv.weight_gradient(&dprojected, &projected)?;
        if is_end && !self.input_norm.requires_grad() {
            return Ok(());
        }
        let dnormed = self.qkv.input_gradient(&dprojected)?;
        self.norm_backward::<T>(scene, &x, &self.input_norm, &dnormed, dx)
    }

    fn mlp_backward<T: Number>(
        &self,
        scene: &Scene<'_>,
        middle: &Tensor,
        gate_up: &mut Tensor,
        dx: &mut Tensor,
    ) -> Result<(), TchError> {
        let mut dinner = self.down.input_gradient(dx)?;
        let width = dinner.size()[1] as usize;
        swiglu_backward::<T>(numbers_mut(gate_up)?, width, numbers_mut(&mut dinner)?);
        let (dgate_up, inner) = (gate_up, dinner);
        self.down.weight_gradient(dx, &inner)?;
        drop(inner);
        let dnormed = self.gate_up.input_gradient(dgate_up)?;
        self.gate_up.weight_gradient(dgate_up, &self.normed::<T>(scene, middle, &self.mlp_norm)?)?;
        self.norm_backward::<T>(scene, middle, &self.mlp_norm, &dnormed, dx)
    }

    fn normed<T: Number>(&self, scene: &Scene<'_>, x: &Tensor, weight: &Tensor) -> Result<Tensor, TchError> {
        let mut normed = x.f_empty_like()?;
        add_norm::<T>(numbers(x)?, None, numbers(weight)?, scene.eps, numbers_mut(&mut normed)?);
        Ok(normed)
    }

    fn norm_backward<T: Number>(
        &self,
        scene: &Scene<'_>,
        x: &Tensor,
        weight: &Tensor,
        dy: &Tensor,
        dx: &mut Tensor,
    ) -> Result<(), TchError> {
        let dweight = norm_backward::<T>(numbers(x)?, numbers(weight)?, scene.eps, numbers(dy)?, numbers_mut(dx)?);
        add_numbers(weight, &dweight)
    }
}

/// `x + delta` and its norm; without `delta`, `x` itself.
fn add_and_norm<T: Number>(
    scene: &Scene<'_>,
    x: Tensor,
    delta: Option<Tensor>,
    weight: &Tensor,
) -> Result<(Tensor, Tensor), TchError> {
    let mut normed = x.f_empty_like()?;
    let weight = numbers(weight)?;
    let Some(delta) = delta else {
        add_norm::<T>(numbers(&x)?, None, weight, scene.eps, numbers_mut(&mut normed)?);
        return Ok((x, normed));
    };
    let mut sum = x.f_empty_like()?;
    let added = Some((numbers(&delta)?, numbers_mut(&mut sum)?));
    add_norm::<T>(numbers(&x)?, added, weight, scene.eps, numbers_mut(&mut normed)?);
    Ok((sum, normed))
}

fn add_numbers(leaf: &Tensor, gradient: &[f32]) -> Result<(), TchError> {
    add_gradient(leaf, &Tensor::f_from_slice(gradient)?)
}
