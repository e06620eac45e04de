//! Where a training computes: what the machine has, unless the job says.

use serde::{Deserialize, Serialize};
use tch::{Cuda, Device, utils};

use crate::error::TrainError;

/// Where to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// The first CUDA device, else Apple's GPU, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The first CUDA device; the job fails where there is none.
    Cuda,
    /// Apple's GPU; the job fails where there is none.
    Mps,
}

/// What libtorch finds on this machine. One that was built without a kind finds none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// A CUDA device.
    pub cuda: bool,
    /// Apple's GPU.
    pub mps: bool,
}

impl Found {
    /// Looks.
    pub fn here() -> Self {
        Self { cuda: Cuda::is_available(), mps: utils::has_mps() }
    }
}

/// The device for a choice.
///
/// # Errors
/// When the chosen one is not there.
pub fn choose(choice: DeviceChoice, found: Found) -> Result<Device, TrainError> {
    let missing = |name: &str| TrainError::Job(format!("job.json: device {name}, but there is none"));
    match choice {
        DeviceChoice::Auto if found.cuda => Ok(Device::Cuda(0)),
        DeviceChoice::Auto if found.mps => Ok(Device::Mps),
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(Device::Cpu),
        DeviceChoice::Cuda if found.cuda => Ok(Device::Cuda(0)),
        DeviceChoice::Cuda => Err(missing("cuda")),
        DeviceChoice::Mps if found.mps => Ok(Device::Mps),
        DeviceChoice::Mps => Err(missing("mps")),
    }
}

/// Its name in results.
pub fn name(device: Device) -> &'static str {
    match device {
        Device::Cuda(_) => "cuda",
        Device::Mps => "mps",
        Device::Cpu | Device::Vulkan => "cpu",
    }
}

/// Whether bfloat16 is multiplied fast there: on CUDA devices, and on CPUs with instructions for it. Elsewhere it is emulated, or
/// was never tried (MPS).
pub fn multiplies_bf16(device: Device) -> bool {
    match device {
        Device::Cuda(_) => true,
        Device::Cpu => cpu_multiplies_bf16(),
        Device::Mps | Device::Vulkan => false,
    }
}

#[cfg(target_arch = "x86_64")]
fn cpu_multiplies_bf16() -> bool {
    std::arch::is_x86_feature_detected!("avx512bf16")
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_multiplies_bf16() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_uses_what_the_machine_has() {
        let (none, cuda) = (Found { cuda: false, mps: false }, Found { cuda: true, mps: false });
        let (mps, both) = (Found { cuda: false, mps: true }, Found { cuda: true, mps: true });
        let chosen = |choice, found| choose(choice, found).ok().map(name);
        for (found, auto) in [(none, "cpu"), (cuda, "cuda"), (mps, "mps"), (both, "cuda")] {
            assert_eq!(chosen(DeviceChoice::Auto, found), Some(auto), "{found:?}");
            assert_eq!(chosen(DeviceChoice::Cpu, found), Some("cpu"), "{found:?}");
            assert_eq!(chosen(DeviceChoice::Cuda, found), found.cuda.then_some("cuda"), "{found:?}");
            assert_eq!(chosen(DeviceChoice::Mps, found), found.mps.then_some("mps"), "{found:?}");
        }
        let said = choose(DeviceChoice::Mps, none).unwrap_err().to_string();
        assert_eq!(said, "job.json: device mps, but there is none");
    }

    #[test]
    fn what_is_found_here_can_be_computed_on() {
        let device = choose(DeviceChoice::Auto, Found::here()).unwrap();
        let sum = tch::Tensor::from_slice(&[1.0_f32, 2.0]).to_device(device).sum(tch::Kind::Float);
        assert_eq!(sum.double_value(&[]), 3.0, "{device:?}");
    }
}
