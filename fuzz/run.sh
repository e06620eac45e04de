#!/usr/bin/env bash
# Builds the fuzz targets on the stable toolchain and runs them, as many at once as there are cores.
#
#   run.sh                        every target for FUZZ_SECONDS (default 30)
#   run.sh TARGET...              only these
#   run.sh --seconds 600 [TARGET...]
#   run.sh --keep [TARGET...]     puts what earlier runs found beyond the kept corpus into it, smallest first
#   run.sh --list                 the targets
#   run.sh --sweep [FORMAT...]    every place of every case made dense, one after another: a quarter of an hour;
#                                 SWEEP_ONE_OF=16 makes one of so many runs
#   FUZZ_SEED=N run.sh …          always the same inputs, as far as the time goes: what CI does
#
# What takes part: the cases of domain/tests/formats as seeds, linked, the kept corpus in fuzz/corpus/TARGET, and what earlier
# runs on this machine found (in the build folder). A failing input stands in fuzz/artifacts/TARGET; run the program
# named in the message on it to see it fail again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

SECONDS_EACH="${FUZZ_SECONDS:-30}"
JOBS="${FUZZ_JOBS:-$(nproc)}"
KEEP_BYTES_MAX=50000 # of the kept corpus of a target
KEEP_FILES_MAX=150
INPUT_BYTES_MAX=65536
RSS_MB_MAX=2048
GRACE_S=60             # after its time a target that still runs hangs

targets() { sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | grep -v '^stash-fuzz$'; }
keep=false
sweep=false
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --seconds) SECONDS_EACH="$2"; shift 2 ;;
    --keep) keep=true; shift ;;
    --sweep) sweep=true; shift ;;
    --list) targets; exit ;;
    *) echo "fuzz: no option $1; see the head of fuzz/run.sh" >&2; exit 2 ;;
  esac
done
if $sweep && [[ $# -eq 0 ]]; then
  mapfile -t ALL < <(targets | while read -r target; do [[ ! -d "../domain/tests/formats/$target" ]] || echo "$target"; done)
  set -- "${ALL[@]}"
fi
[[ $# -gt 0 ]] || mapfile -t ALL < <(targets)
[[ $# -gt 0 ]] || set -- "${ALL[@]}"

# What cargo-fuzz sets for `--sanitizer none`: coverage is an LLVM pass, which stable compilers have. Rust without unsafe code
# has little for a sanitizer to find. A target is named so that build scripts are not instrumented.
HOST="$(rustc -vV | sed -n 's/^host: //p')"
BUILD="${CARGO_TARGET_DIR:-$PWD/../target}/fuzz"
PASSES=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0 --cfg fuzzing)
begin=$SECONDS
if $sweep; then
  cargo build --quiet --release --locked --target-dir "$BUILD/sweep" --example sweep
  echo "fuzz: built in $((SECONDS - begin)) s"
  export SWEEP="$BUILD/sweep/release/examples/sweep" SWEEP_ONE_OF="${SWEEP_ONE_OF:-1}"
  sweep() { # FORMAT
    find "../domain/tests/formats/$1" -name in.jsonl -print0 | sort -z | xargs -0 "$SWEEP" "$1" "$SWEEP_ONE_OF" |
      sed "s/^/fuzz: $1: within its bounds at /" || { echo "fuzz: $1: FAILED"; return 1; }
  }
  export -f sweep
  printf '%s\n' "$@" | xargs -P "$JOBS" -I{} bash -euo pipefail -c 'sweep {}'
  exit
fi
RUSTFLAGS="${PASSES[*]}" cargo build --quiet --release --locked --target "$HOST" --target-dir "$BUILD" --bins
echo "fuzz: built in $((SECONDS - begin)) s"
BIN="$BUILD/$HOST/release"
# With a seed a run depends on nothing that earlier ones found, and is as good as repeatable.
WORK="$BUILD/found${FUZZ_SEED:+.$FUZZ_SEED}"
[[ -z "${FUZZ_SEED:-}" ]] || rm -rf "$WORK"
export BIN WORK SECONDS_EACH INPUT_BYTES_MAX RSS_MB_MAX GRACE_S

# seeds TARGET: links to the cases of its format (of every format, where the target is none), and their words for the fuzzer.
seeds() {
  local target="$1" seeds="$WORK/$1.seeds" cases=../domain/tests/formats quote='\\"'
  rm -rf "$seeds"
  mkdir -p "$seeds" "$WORK/$target" "corpus/$target" "artifacts/$target"
  case "$target" in
    otlp_protobuf) cases+=/otel quote='' ;;
    otlp_json) cases+=/otel ;;
    auto) ;;
    *) cases+="/$target" ;;
  esac
  [[ ! -d "$cases" ]] || find "$(realpath "$cases")" -name in.jsonl | while read -r file; do
    ln -s "$file" "$seeds/$(sha256sum "$file" | head -c 40)" 2>/dev/null || true # the same case in two formats
  done
  { cat "$seeds"/* 2>/dev/null || true; } | LC_ALL=C grep -aoE '"[A-Za-z_.:-]{2,40}"' | LC_ALL=C sort | uniq -c |
    sort -rn | awk '{ print $2; if (NR == 300) exit }' | sed "s/^\"\(.*\)\"\$/\"$quote\1$quote\"/" >"$WORK/$target.dict" || true
  # In protobuf only the words are of use.
  [[ -n "$quote" ]] || rm -f "$seeds"/*
}

# fuzz TARGET: runs it for its time; quiet unless it fails.
fuzz() {
  local target="$1" log="$WORK/$1.log" status=0
  seeds "$target"
  timeout --kill-after=10 "$((SECONDS_EACH + GRACE_S))" "$BIN/$target" "$WORK/$target" "corpus/$target" "$WORK/$target.seeds" \
    -seed="${FUZZ_SEED:-0}" -max_total_time="$SECONDS_EACH" -max_len="$INPUT_BYTES_MAX" -rss_limit_mb="$RSS_MB_MAX" -timeout=25 \
    -dict="$WORK/$target.dict" -artifact_prefix="artifacts/$target/" -print_final_stats=1 >"$log" 2>&1 || status=$?
  if [[ $status -ne 0 ]]; then
    tail -n 60 "$log"
    echo "fuzz: $target: FAILED ($status); $BIN/$target on what stands in fuzz/artifacts/$target shows it again"
    return 1
  fi
  sed -n 's/^stat::number_of_executed_units: */runs /p' "$log" | sed "s/^/fuzz: $target: ok, /; s/\$/, $(grep -o 'cov: [0-9]*' "$log" | tail -n 1)/"
}

# keep TARGET: adds to the kept corpus what adds coverage to seeds and corpus, smallest first, within the bound.
keep() {
  local target="$1" merged="$WORK/$1.merged" sum count
  seeds "$target"
  rm -rf "$merged"
  mkdir -p "$merged"
  cp -L "$WORK/$target.seeds"/* "corpus/$target"/* "$merged/" 2>/dev/null || true
  touch "$WORK/$target.before"
  "$BIN/$target" -merge=1 -max_len=4096 "$merged" "$WORK/$target" >"$WORK/$target.log" 2>&1
  sum="$(find "corpus/$target" -type f -exec cat {} + | wc -c)"
  count="$(find "corpus/$target" -type f | wc -l)"
  while read -r bytes file; do
    sum=$((sum + bytes)) count=$((count + 1))
    [[ $sum -le $KEEP_BYTES_MAX && $count -le $KEEP_FILES_MAX ]] || break
    cp "$file" "corpus/$target/"
  done < <(find "$merged" -type f -newer "$WORK/$target.before" -printf '%s %p\n' | sort -n)
  rm -rf "$merged"
  echo "fuzz: $target: $(find "corpus/$target" -type f | wc -l) inputs kept, $(find "corpus/$target" -type f -exec cat {} + | wc -c) bytes"
}

if $keep; then
  for target in "$@"; do keep "$target"; done
  exit
fi
export -f seeds fuzz
printf '%s\n' "$@" | xargs -P "$JOBS" -I{} bash -euo pipefail -c 'fuzz {}'
