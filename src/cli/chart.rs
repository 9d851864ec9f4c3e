//! Charts of reports, drawn as SVG.

use std::ops::Range;
use std::path::Path;

use anyhow::{anyhow, ensure};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// The size of a chart, in pixels.
const SIZE: (u32, u32) = (960, 600);

/// What is drawn through the points of a series.
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
    /// Whether the y axis is logarithmic; points must be positive then.
    pub log: bool,
    pub series: Vec<Series>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws charts into the file `path`, one below the other; those without points are left out.
///
/// # Errors
/// When there is nothing to draw, or the file cannot be written.
pub fn draw(charts: &[Chart], path: &Path) -> anyhow::Result<()> {
    let charts: Vec<&Chart> = charts.iter().filter(|chart| chart.points().next().is_some()).collect();
    ensure!(!charts.is_empty(), "there is nothing to draw into {}", path.display());
    let mut image = String::new();
    let mut drawn = || -> Drawn {
        let size = (SIZE.0, SIZE.1 * charts.len() as u32);
        let area = SVGBackend::with_string(&mut image, size).into_drawing_area();
        area.fill(&WHITE)?;
        for (chart, area) in charts.iter().zip(area.split_evenly((charts.len(), 1))) {
            chart.draw(&area)?;
        }
        area.present()?;
        Ok(())
    };
    drawn().map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))?;
    std::fs::write(path, image).map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
}

impl Chart {
    fn draw(&self, area: &Area) -> Drawn {
        if self.log {
            let powers = self.powers();
            self.draw_axes(area, (powers.start..powers.end).log_scale())
        } else {
            self.draw_axes(area, self.linear())
        }
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.series.iter().flat_map(|series| series.points.iter().copied())
    }

    /// Whole powers of ten around all points.
    fn powers(&self) -> Range<f64> {
        let low = self.points().map(|(_, y)| y).fold(f64::INFINITY, f64::min).log10().floor();
        let high = self.points().map(|(_, y)| y).fold(0.0, f64::max).log10().ceil().max(low + 1.0);
        10f64.powf(low)..10f64.powf(high)
    }

    /// Zero and all points, with a little room.
    fn linear(&self) -> Range<f64> {
        let low = self.points().map(|(_, y)| y).fold(0.0, f64::min);
        let high = self.points().map(|(_, y)| y).fold(0.0, f64::max);
        let room = ((high - low) * 0.05).max(1e-9);
        (if low < 0.0 { low - room } else { 0.0 })..(if high > 0.0 { high + room } else { room })
    }

    fn draw_axes<Y>(&self, area: &Area, y: Y) -> Drawn
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let colours = [BLUE, RED, GREEN, MAGENTA, BLACK, CYAN];
        let first = self.points().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
        let last = self.points().map(|(x, _)| x).fold(f64::NEG_INFINITY, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 22))
            .margin(12)
            .x_label_area_size(45)
            .y_label_area_size(80)
            .build_cartesian_2d(first - 0.6..last + 0.6, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&|x| if x.fract() == 0.0 { format!("{x}") } else { String::new() })
            .y_label_formatter(&|y| if y.abs() >= 1e5 { format!("{y:e}") } else { format!("{y}") })
            // None at all, `max_light_lines(0)`, is sought for ever.
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 16))
            .draw()?;
        // Bars of several series stand side by side.
        let width = 0.8 / self.series.len() as f64;
        for (index, (series, colour)) in self.series.iter().zip(colours.into_iter().cycle()).enumerate() {
            let points = series.points.iter().copied();
            let drawn = match self.shape {
                Shape::Line => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?,
                Shape::Bars => {
                    let left = -0.4 + width * index as f64;
                    chart.draw_series(points.map(|(x, y)| {
                        Rectangle::new([(x + left, 0.0), (x + left + width, y)], colour.mix(0.7).filled())
                    }))?
                }
            };
            if self.series.len() > 1 {
                drawn
                    .label(&series.name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(3)));
            }
        }
        if self.series.len() > 1 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .label_font(("sans-serif", 16))
                .background_style(WHITE.mix(0.8))
                .border_style(BLACK)
                .draw()?;
        }
        Ok(())
    }
}
