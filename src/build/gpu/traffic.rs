/// Bytes that went one way or the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Traffic {
    /// To the device.
    pub uploaded: u64,
    /// From the device.
    pub downloaded: u64,
    /// From one place on the device to another.
    pub copied: u64,
    /// What the stages for moves, transposing and packing read and write at least: every score and child once a move.
    pub touched: u64,
    /// Bytes of lower frames that are on the device now.
    pub resident: u64,
}
