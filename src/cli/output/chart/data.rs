/// Shape drawn through the points of a series.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line with a dot at each point.
    Line,
    /// A bar from the axis to each point.
    Bars,
}

/// Points with a name.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Series over two axes.
pub struct Chart {
    pub title: String,
    pub x: String,
    pub y: String,
    pub shape: Shape,
    /// True for a logarithmic y axis, for which points must be positive.
    pub log: bool,
    pub series: Vec<Series>,
}
