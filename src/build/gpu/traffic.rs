/// Bytes transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Traffic {
    /// To the device.
    pub uploaded: u64,
    /// From the device.
    pub downloaded: u64,
    /// From one place on the device to another.
    pub copied: u64,
    /// The least that the stages for moves, transposing and packing read and write: every score and child once per
    /// move.
    pub touched: u64,
    /// Dispatches.
    pub dispatches: u64,
    /// Workgroups of all dispatches.
    pub workgroups: u64,
    /// Bytes of lower frames that are on the device now.
    pub resident: u64,
}
