//! Projections of one input, computed as one.

use tch::{Kind, TchError, Tensor};

use crate::model::Linear;

/// Projections whose outputs lie side by side in a row.
#[derive(Debug)]
pub(super) struct Group {
    members: Vec<Member>,
    /// Their weights below each other, `[out, in]`, in the kind that is computed in.
    weight: Tensor,
    bias: Option<Tensor>,
    /// Whether the weights change; adapters do in any case.
    is_trained: bool,
}

#[derive(Debug)]
struct Member {
    linear: Linear,
    /// Its first output.
    begin: i64,
    /// How many it has.
    outputs: i64,
}

impl Group {
    /// A group of projections that share an input. Weights that stay as they are then share the group's memory.
    pub(super) fn new(linears: &mut [&mut Linear], kind: Kind) -> Result<Self, TchError> {
        let weights: Vec<Tensor> =
            linears.iter().map(|linear| linear.weight.f_detach()?.f_to_kind(kind)).collect::<Result<_, _>>()?;
        let weight = Tensor::f_cat(&weights, 0)?;
        let is_trained = linears.iter().any(|linear| linear.weight.requires_grad());
        let mut begin = 0;
        let mut members = Vec::new();
        for linear in linears.iter_mut() {
            let outputs = linear.weight.size()[0];
            if !is_trained {
                linear.weight = weight.f_narrow(0, begin, outputs)?;
            }
            members.push(Member { linear: linear.share(), begin, outputs });
            begin += outputs;
        }
        let mut group = Self { members, weight, bias: None, is_trained };
        group.refresh()?;
        Ok(group)
    }

    /// Takes over weights that the optimizer has changed.
    pub(super) fn refresh(&mut self) -> Result<(), TchError> {
        let biases: Option<Vec<Tensor>> =
            self.members.iter().map(|member| member.linear.bias.as_ref().map(Tensor::detach)).collect();
        self.bias = biases.map(|biases| Tensor::f_cat(&biases, 0)?.f_to_kind(self.weight.f_kind()?)).transpose()?;
        if !self.is_trained {
            return Ok(());
        }
        for member in &self.members {
            self.weight.f_narrow(0, member.begin, member.outputs)?.f_copy_(&member.linear.weight)?;
        }
        Ok(())
    }

    /// `[tokens, out]`.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor, TchError> {
        let y = x.f_linear(&self.weight, self.bias.as_ref())?;
        for member in &self.members {
            if let Some(adapter) = &member.linear.adapter {
                let _ = member.part(&y)?.f_add_(&adapter.forward(x)?)?;
            }
        }
        Ok(y)
    }

    /// The gradient of the input, from that of the output.
    pub(super) fn input_gradient(&self, dy: &Tensor) -> Result<Tensor, TchError> {
        let mut dx = dy.f_mm(&self.weight)?;
        for member in &self.members {
            if let Some(adapter) = &member.linear.adapter {
                let kind = dy.f_kind()?;
                let dinner = member.part(dy)?.f_mm(&adapter.b.f_to_kind(kind)?)?.f_mul_scalar(adapter.scale)?;
                dx = dx.f_addmm_(&dinner, &adapter.a.f_to_kind(kind)?)?;
            }
        }
        Ok(dx)
    }

    /// Adds the gradients of everything trained here.
    pub(super) fn weight_gradient(&self, dy: &Tensor, x: &Tensor) -> Result<(), TchError> {
        if self.is_trained {
            let dweight = dy.f_transpose(0, 1)?.f_mm(x)?;
            for member in &self.members {
                add_gradient(&member.linear.weight, &dweight.f_narrow(0, member.begin, member.outputs)?)?;
                if let Some(bias) = &member.linear.bias {
                    add_gradient(bias, &member.part(dy)?.f_sum_dim_intlist(0, false, Kind::Float)?)?;
                }
            }
        }
        for member in &self.members {
            let Some(adapter) = &member.linear.adapter else { continue };
            let (kind, dy) = (dy.f_kind()?, member.part(dy)?);
            let inner = x.f_mm(&adapter.a.f_to_kind(kind)?.f_transpose(0, 1)?)?;
            let dinner = dy.f_mm(&adapter.b.f_to_kind(kind)?)?;
            add_gradient(
                &adapter.b,
                &dy.f_transpose(0, 1)?.f_mm(&inner)?.f_to_kind(Kind::Float)?.f_mul_scalar(adapter.scale)?,
            )?;
            add_gradient(
                &adapter.a,
                &dinner.f_transpose(0, 1)?.f_mm(x)?.f_to_kind(Kind::Float)?.f_mul_scalar(adapter.scale)?,
            )?;
        }
        Ok(())
    }
}

impl Member {
    /// Its columns of the group's output.
    fn part(&self, y: &Tensor) -> Result<Tensor, TchError> {
        y.f_narrow(1, self.begin, self.outputs)
    }
}

/// Adds to the gradient of a leaf of the graph, if it is trained.
pub(super) fn add_gradient(leaf: &Tensor, gradient: &Tensor) -> Result<(), TchError> {
    if leaf.requires_grad() {
        let _ = leaf.f_grad()?.f_add_(gradient)?;
    }
    Ok(())
}

/// Gives a trained leaf the gradient 0 where it has none yet. libtorch lets only its own backward pass make one.
pub(super) fn make_gradient(leaf: &Tensor) -> Result<(), TchError> {
    if leaf.requires_grad() && !leaf.f_grad()?.defined() {
        leaf.f_sum(Kind::Float)?.f_mul_scalar(0.0)?.f_backward()?;
    }
    Ok(())
}
