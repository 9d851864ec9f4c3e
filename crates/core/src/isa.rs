//! The instruction set for hot loops, chosen once at run time.

use std::sync::OnceLock;

/// An instruction set that hot loops are compiled for, slowest first. All give the same results.
///
/// A value proves that this machine supports the set: other crates cannot construct those that not every machine has,
/// and this one does so only after `Isa::is_available`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Supported by every machine of the target.
    Baseline,
    /// x86-64 with AVX2, BMI1, BMI2, POPCNT and LZCNT (Haswell, Excavator and later).
    #[non_exhaustive]
    Avx2,
    /// The features of `Avx2`, and AVX-512 F, BW, VL, VBMI and VBMI2 (Ice Lake, Zen 4 and later).
    #[non_exhaustive]
    Avx512,
}

impl Isa {
    /// Returns true if this machine supports all features that [`per_isa`] compiles for.
    fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        macro_rules! all {
            ($($feature:tt)*) => { true $(&& is_x86_feature_detected!($feature))* };
        }
        #[cfg(not(target_arch = "x86_64"))]
        macro_rules! all {
            ($($feature:tt)*) => {
                false
            };
        }
        match self {
            Isa::Baseline => true,
            Isa::Avx2 => all!("avx2" "bmi1" "bmi2" "popcnt" "lzcnt"),
            Isa::Avx512 => Isa::Avx2.is_available() && all!("avx512f" "avx512bw" "avx512vl" "avx512vbmi" "avx512vbmi2"),
        }
    }

    /// The instruction sets that this machine supports, slowest first.
    pub fn available() -> impl DoubleEndedIterator<Item = Isa> {
        [Isa::Baseline, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_available())
    }

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// Returns the fastest set that this machine supports.
    pub fn detect() -> Isa {
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(|| Isa::available().next_back().unwrap_or(Isa::Baseline))
    }
}

/// Defines a function whose body is compiled once for each [`Isa`]. The first argument selects the
/// version.
///
/// ```
/// use kalah_core::isa::{Isa, per_isa};
///
/// per_isa! {
///     /// The sum of the bytes.
///     pub fn sum(bytes: &[u8]) -> u64 {
///         bytes.iter().map(|&byte| u64::from(byte)).sum()
///     }
/// }
///
/// assert!(Isa::available().all(|isa| sum(isa, &[200, 100]) == 300));
/// ```
#[macro_export]
macro_rules! per_isa {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block
    ) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name(isa: $crate::isa::Isa, $($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $type),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx2($($arg: $type),*) $(-> $ret)? {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
                fn avx512($($arg: $type),*) $(-> $ret)? {
                    body($($arg),*)
                }
                match isa {
                    // SAFETY: an `Isa` of this kind exists only where `Isa::is_available` found
                    // these features.
                    $crate::isa::Isa::Avx512 { .. } => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::isa::Isa::Avx2 { .. } => return unsafe { avx2($($arg),*) },
                    $crate::isa::Isa::Baseline => {}
                }
            }
            let _ = isa;
            body($($arg),*)
        }
    };
}
pub use per_isa;
