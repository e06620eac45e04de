//! Tells cargo that the migrations are part of this crate: a new file there must be compiled in.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
