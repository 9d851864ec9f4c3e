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

impl Series {
    /// Returns a series for each run of points with the same name.
    pub fn by_name(points: impl IntoIterator<Item = (String, (f64, f64))>) -> Vec<Series> {
        let mut series: Vec<Series> = Vec::new();
        for (name, point) in points {
            match series.last_mut() {
                Some(last) if last.name == name => last.points.push(point),
                _ => series.push(Series { name, points: vec![point] }),
            }
        }
        series
    }
}

impl Chart {
    /// Returns a chart with these names of the x and y axes.
    pub fn new(title: impl Into<String>, [x, y]: [&str; 2], shape: Shape, series: Vec<Series>) -> Chart {
        Chart { title: title.into(), x: x.to_owned(), y: y.to_owned(), shape, log: false, series }
    }

    /// Makes the y axis logarithmic.
    pub fn logarithmic(self) -> Chart {
        Chart { log: true, ..self }
    }
}
