//! `stash openapi`

use crate::{output, pages};

pub(super) fn run() -> anyhow::Result<()> {
    output::line(pages::openapi::text()?.trim_end())
}
