//! The ONNX Runtime library, loaded once, when the first scorer is opened, and its OpenVINO plugin, loaded by the first that
//! computes in bfloat16.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::device::Device;
use ort::environment::Environment;
use ort::memory::DeviceType;
use stash_infra::postgres::embedded::Search;

use crate::scoring::ScoreError;

/// The variable that names the library.
const VARIABLE: &str = "ORT_DYLIB_PATH";

/// The library in a folder of fetched dependencies.
const FETCHED: &str = "onnxruntime/libonnxruntime.so";

/// The variable that names the plugin.
const PLUGIN_VARIABLE: &str = "ORT_EP_OPENVINO_PATH";

/// The plugin in a folder of fetched dependencies.
const PLUGIN_FETCHED: &str = "openvino/libonnxruntime_providers_openvino_plugin.so";

/// The name under which the plugin is registered.
const PLUGIN_NAME: &str = "stash.openvino";

/// The plugin's execution provider.
pub(super) const OPENVINO: &str = "OpenVINOExecutionProvider";

/// ONNX Runtime's own.
const CPU: &str = "CPUExecutionProvider";

/// Whether the plugin was registered.
static REGISTERED: Mutex<bool> = Mutex::new(false);

static LOADED: OnceLock<Environment> = OnceLock::new();

/// The process's environment. A failure is not kept: the next scorer tries again.
pub(super) fn environment() -> Result<&'static Environment, ScoreError> {
    if let Some(environment) = LOADED.get() {
        return Ok(environment);
    }
    let path = library().ok_or(ScoreError::RuntimeNotNamed)?.display().to_string();
    let refused = |detail: String| ScoreError::RuntimeNotLoaded { path: path.clone(), detail };
    let environment = ort::init_from(&path)
        .map_err(|e| refused(e.to_string()))?
        .with_name("stash")
        .with_telemetry(false)
        .build()
        .map_err(|e| refused(e.to_string()))?;
    Ok(LOADED.get_or_init(|| environment))
}

/// The library: the one that the variable names, else the one that the dependency set-up fetched; none if there is neither.
pub fn library() -> Option<PathBuf> {
    find(VARIABLE, FETCHED)
}

/// The OpenVINO plugin, found as the library is.
pub(super) fn plugin() -> Option<PathBuf> {
    find(PLUGIN_VARIABLE, PLUGIN_FETCHED)
}

/// The processor as a device of the OpenVINO plugin.
pub(super) fn openvino(environment: &Environment) -> Result<Device<'_>, ScoreError> {
    let path = plugin().ok_or_else(|| ScoreError::Engine("the OpenVINO plugin is not there".to_owned()))?;
    {
        let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
        if !*registered {
            environment.register_ep_library(PLUGIN_NAME, &path)?;
            *registered = true;
        }
    }
    device(environment, OPENVINO)
        .ok_or_else(|| ScoreError::Engine(format!("the plugin {} offers no processor", path.display())))
}

/// The processor as a device of ONNX Runtime itself.
pub(super) fn cpu(environment: &Environment) -> Result<Device<'_>, ScoreError> {
    device(environment, CPU).ok_or_else(|| ScoreError::Engine("ONNX Runtime offers no processor".to_owned()))
}

fn device<'e>(environment: &'e Environment, provider: &str) -> Option<Device<'e>> {
    environment.devices().find(|device| {
        device.ep().is_ok_and(|name| name == provider) && device.hardware_device().ty() == DeviceType::CPU
    })
}

fn find(variable: &str, fetched: &str) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return Some(PathBuf::from(named));
    }
    // The same folders in which a fetched Postgres is looked for.
    Search::from_environment().deps.into_iter().map(|folder| folder.join(fetched)).find(|path| path.is_file())
}
