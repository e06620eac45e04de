//! A tensor's numbers as a slice.

#![allow(unsafe_code, reason = "libtorch gives a pointer; what makes it a slice is checked here, and nowhere else")]

use tch::{Device, TchError, Tensor};

use super::number::Number;

/// The numbers of a contiguous tensor on the CPU, row by row.
///
/// # Errors
/// When the tensor is elsewhere, of another kind, or not contiguous.
pub fn numbers<T: Number>(tensor: &Tensor) -> Result<&[T], TchError> {
    let (data, length) = checked::<T>(tensor)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: the tensor is contiguous, so `length` numbers of `T`'s size lie behind the pointer; it keeps its memory for as
    // long as it is borrowed. Nothing writes to it meanwhile: this crate's only other threads are those of `spread`, which get
    // slices, and libtorch's threads write only during a call into libtorch.
    Ok(unsafe { std::slice::from_raw_parts(data, length) })
}

/// The same, to be written to. Call it on a tensor that no other borrowed slice comes from: a clone that shares its memory is
/// another tensor to the compiler, but not to the machine.
///
/// # Errors
/// As [`numbers`].
pub fn numbers_mut<T: Number>(tensor: &mut Tensor) -> Result<&mut [T], TchError> {
    let (data, length) = checked::<T>(tensor)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as above; and the tensor is borrowed mutably, so no second slice is made from it.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, length) })
}

fn checked<T: Number>(tensor: &Tensor) -> Result<(*mut T, usize), TchError> {
    let refuse = |what: &str| Err(TchError::Kind(format!("a kernel was given a tensor {what}")));
    if tensor.device() != Device::Cpu {
        return refuse("on another device");
    }
    if tensor.f_kind()? != T::KIND {
        return refuse("of another kind");
    }
    if !tensor.is_contiguous() {
        return refuse("that is not contiguous");
    }
    let data = tensor.data_ptr().cast::<T>();
    if tensor.numel() > 0 && (data.is_null() || !data.is_aligned()) {
        return refuse("without memory");
    }
    Ok((data, tensor.numel()))
}
