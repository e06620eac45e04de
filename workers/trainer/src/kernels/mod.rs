//! Loops over the numbers of tensors on the CPU that libtorch would take several passes over memory for: the norm with the
//! addition before it, the heads' norm with their rotation, the gated activation, each with its gradient, and the optimizer.
//!
//! - [`memory`]: a tensor's numbers as a slice, the only `unsafe` besides the choice of instructions here
//! - [`number`]: fp32 and bfloat16; every kernel computes in fp32 and rounds once, when it stores
//! - [`norm`], [`heads`], [`swiglu`], [`adamw`]: the kernels, a file each
//!
//! Rows are dealt out in equal parts to as many threads as libtorch has been given. Sums run over [`LANES`] numbers side by
//! side, whatever instructions the machine has, so results depend on the number of threads alone.

pub mod adamw;
pub mod heads;
pub mod memory;
pub mod norm;
pub mod number;
pub mod swiglu;

/// Sums are kept in this many parts: as many fp32 numbers as the widest vectors hold.
pub const LANES: usize = 16;

/// Fewest numbers worth a thread of their own: starting one takes as long as computing these.
const NUMBERS_PER_THREAD: usize = 1 << 15;

/// How many rows a thread should take of `rows` with `width` numbers each.
fn rows_per_thread(rows: usize, width: usize) -> usize {
    let threads = usize::try_from(tch::get_num_threads()).unwrap_or(1).max(1);
    let worth = (rows * width).div_ceil(NUMBERS_PER_THREAD).max(1);
    rows.div_ceil(threads.min(worth)).max(1)
}

/// Runs each part on a thread of its own, the first on this one, and returns what they made in order.
fn spread<P: Send, R: Send>(parts: Vec<P>, run: impl Fn(P) -> R + Sync) -> Vec<R> {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let run = &run;
        let others: Vec<_> = parts.map(|part| scope.spawn(move || run(part))).collect();
        let mut made = vec![run(first)];
        for other in others {
            match other.join() {
                Ok(result) => made.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        made
    })
}

/// Adds the thread parts of a gradient in order.
fn add_up(parts: Vec<Vec<f32>>) -> Vec<f32> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
    }
    sum
}

/// Defines a function that is compiled for several sets of instructions and chooses among them when it is called. All give
/// the same bits: no set fuses a multiplication with an addition here.
macro_rules! vectorised {
    ($(#[$meta:meta])* fn $name:ident<$t:ident>($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        fn $name<$t: $crate::kernels::number::Number>($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn body<$t: $crate::kernels::number::Number>($($arg: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn wide<$t: $crate::kernels::number::Number>($($arg: $type),*) $(-> $result)? {
                    body::<$t>($($arg),*)
                }
                #[target_feature(enable = "avx2")]
                fn middle<$t: $crate::kernels::number::Number>($($arg: $type),*) $(-> $result)? {
                    body::<$t>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the processor has every instruction the function was compiled for, as was just asked.
                    #[allow(unsafe_code)]
                    return unsafe { wide::<$t>($($arg),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: as above.
                    #[allow(unsafe_code)]
                    return unsafe { middle::<$t>($($arg),*) };
                }
            }
            body::<$t>($($arg),*)
        }
    };
}
use vectorised;
