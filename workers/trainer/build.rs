//! Puts the folder of libtorch into the trainer's run path, so that it starts without `LD_LIBRARY_PATH`. torch-sys links
//! the library but cannot do this for the packages that depend on it.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    println!("cargo:rerun-if-env-changed=LIBTORCH_LIB");
    let lib = std::env::var("LIBTORCH_LIB").or_else(|_| std::env::var("LIBTORCH"));
    if let Ok(libtorch) = lib {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{libtorch}/lib");
    }
}
