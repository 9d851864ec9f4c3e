//! The instruction set for hot loops, chosen once at run time.

use std::sync::OnceLock;

/// An instruction set that hot loops are compiled for. All give the same results.
///
/// A value proves that this machine supports the set: it can only come from [`Isa::available`] or
/// [`Isa::detect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Set);

/// The instruction sets, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Set {
    /// Supported by every machine of the target.
    Baseline,
    /// x86-64 with AVX2, BMI1, BMI2, POPCNT and LZCNT (Haswell, Excavator and later).
    Avx2,
    /// The features of `Avx2`, and AVX-512 F, BW, VL, VBMI and VBMI2 (Ice Lake, Zen 4 and later).
    Avx512,
}

impl Set {
    /// Returns true if this machine supports all features that [`per_isa`] compiles for.
    fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Set::Baseline => true,
            Set::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("lzcnt")
            }
            Set::Avx512 => {
                Set::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Set::Baseline
        }
    }
}

impl Isa {
    /// The instruction sets that this machine supports, slowest first.
    pub fn available() -> impl DoubleEndedIterator<Item = Isa> {
        [Set::Baseline, Set::Avx2, Set::Avx512].into_iter().filter(|set| set.is_available()).map(Isa)
    }

    /// The name, as accepted by `KALAH_ISA`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Baseline => "baseline",
            Set::Avx2 => "avx2",
            Set::Avx512 => "avx512",
        }
    }

    /// The instruction set as an enum.
    #[inline]
    #[doc(hidden)]
    pub fn set(self) -> Set {
        self.0
    }

    /// Returns the set named by the environment variable `KALAH_ISA` if this machine supports it,
    /// otherwise the fastest.
    pub fn detect() -> Isa {
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            let wanted = std::env::var("KALAH_ISA").ok();
            Isa::available()
                .find(|isa| wanted.as_deref() == Some(isa.name()))
                .or(Isa::available().next_back())
                .unwrap_or(Isa(Set::Baseline))
        })
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
                match isa.set() {
                    // SAFETY: an `Isa` of this kind exists only where `Set::is_available` found
                    // these features.
                    $crate::isa::Set::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::isa::Set::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::isa::Set::Baseline => {}
                }
            }
            let _ = isa;
            body($($arg),*)
        }
    };
}
pub use per_isa;
