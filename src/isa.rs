//! Which instruction set the hot loops run with, chosen once at run time.

use std::sync::OnceLock;

/// An instruction set that hot loops are compiled for. All give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// What every machine of the target has.
    Baseline,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL, VBMI and VBMI2 (Ice Lake, Zen 4 and later).
    Avx512,
}

impl Isa {
    /// All instruction sets, the slowest first.
    pub const ALL: [Isa; 3] = [Isa::Baseline, Isa::Avx2, Isa::Avx512];

    /// The name, as `KALAH_ISA` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// Whether this machine runs it.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Isa::Baseline => true,
            Isa::Avx2 => is_x86_feature_detected!("avx2"),
            Isa::Avx512 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Isa::Baseline
        }
    }

    /// The best this machine has, or the one that the environment variable `KALAH_ISA` names, if it has that.
    pub fn detect() -> Isa {
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            let available = || Isa::ALL.into_iter().filter(|isa| isa.is_available());
            let wanted = std::env::var("KALAH_ISA").ok();
            available()
                .find(|isa| wanted.as_deref() == Some(isa.name()))
                .or(available().next_back())
                .unwrap_or(Isa::Baseline)
        })
    }
}

/// Defines a function for every [`Isa`]: one body, compiled for each, chosen by the first argument.
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
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
                fn avx512($($arg: $type),*) $(-> $ret)? {
                    body($($arg),*)
                }
                match isa {
                    // SAFETY: values of these kinds come from `Isa::detect` or tests that asked `is_available`.
                    $crate::isa::Isa::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::isa::Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::isa::Isa::Baseline => {}
                }
            }
            let _ = isa;
            body($($arg),*)
        }
    };
}
pub(crate) use per_isa;
