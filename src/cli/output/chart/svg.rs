//! Charts drawn as SVG, with round numbers at the axes and the legend beside the plot.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use anyhow::anyhow;
use indicatif::HumanFloatCount;
use kalah::file::Output;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::data::{Chart, Shape};

/// Size of a chart in pixels.
const SIZE: (u32, u32) = (960, 600);

/// Font sizes in pixels, and the maximum width of a letter in the legend.
const CAPTION: u32 = 22;
const LETTERS: u32 = 16;
const LETTER_WIDTH: u32 = 9;

/// Width of the legend besides its letters: the stroke of a series, and space around.
const LEGEND_SPACE: u32 = 64;

/// Colours of the series, distinguishable for the colour-blind (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Dashes and gaps of the series' lines in pixels. The first line is solid. Where lines coincide, the lower ones show
/// through the gaps. The number of patterns and that of colours have no common divisor, so combinations repeat late.
const DASHES: [(u32, u32); 4] = [(1, 0), (10, 5), (3, 4), (16, 8)];

/// Opacity of bars, for each round of colours.
const SHADES: [f64; 4] = [0.85, 0.5, 0.3, 0.7];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws charts into the file `path`, one below the other, without those that have no points. Returns false if none
/// has, and writes no file then.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(charts: &[Chart], path: &Path) -> anyhow::Result<bool> {
    let image = image(charts).map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))?;
    if image.is_empty() {
        return Ok(false);
    }
    write(path, &image).map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
    Ok(true)
}

/// Writes a chart completely or not at all. An old file stays until then.
fn write(path: &Path, image: &str) -> io::Result<()> {
    let mut file = Output::begin(path, None)?;
    file.write_all(image.as_bytes())?;
    file.finish()
}

/// Returns the charts as SVG; empty if none has points.
fn image(charts: &[Chart]) -> Result<String, Box<dyn std::error::Error>> {
    let charts: Vec<&Chart> = charts.iter().filter(|chart| chart.points().next().is_some()).collect();
    let mut image = String::new();
    if charts.is_empty() {
        return Ok(image);
    }
    let size = (SIZE.0, SIZE.1 * charts.len() as u32);
    let area = SVGBackend::with_string(&mut image, size).into_drawing_area();
    area.fill(&WHITE)?;
    for (chart, area) in charts.iter().zip(area.split_evenly((charts.len(), 1))) {
        chart.draw(&area)?;
    }
    area.present()?;
    drop(area);
    Ok(image)
}

/// Axis with a range, and marks at round numbers.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    range: Range<f64>,
    log: bool,
    marks: Vec<f64>,
}

impl Axis {
    /// Returns an axis over `range` with about `count` marks, at multiples of 1, 2 or 5 times a power of ten, at
    /// least `least` apart.
    fn linear(range: Range<f64>, count: usize, least: f64) -> Axis {
        let raw = ((range.end - range.start) / count as f64).max(least);
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&step| step >= raw * 0.999);
        let step = step.unwrap_or(10.0 * power);
        // An end that differs from a mark by rounding only is marked.
        let (first, last) = ((range.start / step - 1e-9).ceil() as i64, (range.end / step + 1e-9).floor() as i64);
        // Multiplied instead of added up, so that marks do not drift off their numbers.
        let marks = (first..=last).map(|multiple| multiple as f64 * step).collect();
        Axis { range, log: false, marks }
    }

    /// Returns a logarithmic axis over whole powers of ten with about `count` marks. If there are few powers, 2 and 5
    /// times them are marked, too.
    fn powers(low: i32, high: i32, count: usize) -> Axis {
        let every = (high - low) as usize / count + 1;
        let digits: &[f64] = if high - low <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = (low..=high).step_by(every).map(|power| 10f64.powi(power));
        let range = 10f64.powi(low)..10f64.powi(high);
        let mut marks: Vec<f64> = powers.flat_map(|power| digits.iter().map(move |digit| digit * power)).collect();
        marks.retain(|mark| *mark <= range.end);
        Axis { range, log: true, marks }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let scale = |value: f64| if self.log { value.log10() } else { value };
        let (start, end) = (scale(self.range.start), scale(self.range.end));
        // Bars start at 0, which a logarithmic axis does not reach.
        let value = if self.log { value.max(self.range.start) } else { *value };
        low + ((scale(value) - start) / (end - start) * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // No light lines between the marks.
        if hint.weight().allow_light_points() { Vec::new() } else { self.marks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        let size = value.abs();
        if size >= 1e10 || (size > 0.0 && size < 1e-4) {
            return format!("{value:e}");
        }
        // Twelve places are more than a mark has, and too few to show its rounding error.
        let text = format!("{value:.12}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        // Thousands are separated, as in all output.
        if size < 1e4 { text.to_owned() } else { HumanFloatCount(*value).to_string() }
    }
}

/// Style of a series, by index.
struct Look {
    colour: RGBColor,
    dash: (u32, u32),
    shade: f64,
}

impl Look {
    fn of(index: usize) -> Look {
        let (colour, round) = (COLOURS[index % COLOURS.len()], index / COLOURS.len());
        Look { colour, dash: DASHES[index % DASHES.len()], shade: SHADES[round % SHADES.len()] }
    }
}

impl Chart {
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.series.iter().flat_map(|series| series.points.iter().copied())
    }

    /// Returns the axis of values: whole powers of ten around all points, or zero and all points with a little space.
    fn values(&self) -> Axis {
        const MARKS: usize = 8;
        let low = self.points().map(|(_, y)| y).fold(f64::INFINITY, f64::min);
        let high = self.points().map(|(_, y)| y).fold(f64::NEG_INFINITY, f64::max);
        if self.log {
            let low = low.log10().floor() as i32;
            return Axis::powers(low, (high.log10().ceil() as i32).max(low + 1), MARKS);
        }
        let (low, high) = (low.min(0.0), high.max(0.0));
        let margin = ((high - low) * 0.05).max(1e-9);
        let range = (if low < 0.0 { low - margin } else { 0.0 })..(if high > 0.0 { high + margin } else { margin });
        Axis::linear(range, MARKS, 0.0)
    }

    /// Returns the axis of counts, with whole numbers.
    fn numbers(&self) -> Axis {
        let first = self.points().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
        let last = self.points().map(|(x, _)| x).fold(f64::NEG_INFINITY, f64::max);
        Axis::linear(first - 0.6..last + 0.6, 12, 1.0)
    }

    fn draw(&self, area: &Area) -> Drawn {
        let named = self.series.len() > 1;
        let letters = self.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0) as u32;
        let legend = if named { (letters * LETTER_WIDTH + LEGEND_SPACE).min(SIZE.0 / 2) } else { 0 };
        let (plot, beside) = area.split_horizontally(SIZE.0 - legend);
        let mut chart = ChartBuilder::on(&plot)
            .caption(&self.title, ("sans-serif", CAPTION))
            .margin(12)
            .x_label_area_size(45)
            .y_label_area_size(80)
            .build_cartesian_2d(self.numbers(), self.values())?;
        chart.configure_mesh().x_desc(&self.x).y_desc(&self.y).label_style(("sans-serif", LETTERS)).draw()?;
        // Bars of several series stand side by side.
        let width = 0.8 / self.series.len() as f64;
        for (index, series) in self.series.iter().enumerate() {
            let Look { colour, dash, shade } = Look::of(index);
            let points = series.points.iter().copied();
            match self.shape {
                Shape::Line => {
                    // Gaps in the line would look like missing points.
                    if dash.1 == 0 {
                        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
                    } else {
                        let style = colour.stroke_width(2);
                        chart.draw_series(DashedLineSeries::new(points.clone(), dash.0, dash.1, style))?;
                    }
                    chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?;
                }
                Shape::Bars => {
                    let left = -0.4 + width * index as f64;
                    chart.draw_series(points.map(|(x, y)| {
                        Rectangle::new([(x + left, 0.0), (x + left + width, y)], colour.mix(shade).filled())
                    }))?;
                }
            }
        }
        if named { self.draw_legend(&beside) } else { Ok(()) }
    }

    /// Draws the legend, one series below the other, as far as there is space.
    fn draw_legend(&self, area: &Area) -> Drawn {
        let top = CAPTION as i32 + 30;
        let height = (SIZE.1 as i32 - 2 * top) / self.series.len() as i32;
        let height = height.min(LETTERS as i32 + 8);
        for (index, series) in self.series.iter().enumerate() {
            let Look { colour, dash, shade } = Look::of(index);
            let (y, line) = (top + height * index as i32, 8..36);
            match self.shape {
                Shape::Line => {
                    let ends = [(line.start, y), (line.end, y)];
                    let style = colour.stroke_width(2);
                    if dash.1 == 0 {
                        area.draw(&PathElement::new(ends, style))?;
                    } else {
                        area.draw(&DashedPathElement::new(ends, dash.0, dash.1, style))?;
                    }
                    area.draw(&Circle::new((i32::midpoint(line.start, line.end), y), 3, colour.filled()))?;
                }
                Shape::Bars => {
                    area.draw(&Rectangle::new([(line.start, y - 6), (line.end, y + 6)], colour.mix(shade).filled()))?;
                }
            }
            let place = (line.end + 8, y - LETTERS as i32 / 2);
            area.draw(&Text::new(series.name.clone(), place, ("sans-serif", LETTERS)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Series;
    use super::*;

    /// Returns a chart with this number of series, with values around `scale`.
    fn chart(series: usize, shape: Shape, log: bool, scale: f64) -> Chart {
        let series = (0..series).map(|index| {
            let points = (2..=24).map(|x| (f64::from(x), scale * (0.37 + f64::from(x) * (index + 1) as f64)));
            Series { name: format!("series {index}, 6 pits"), points: points.collect() }
        });
        let text = |text: &str| text.to_owned();
        Chart { title: text("title"), x: text("seeds"), y: text("bytes"), shape, log, series: series.collect() }
    }

    /// Returns the texts of an image, each with its start or end.
    fn texts(image: &str) -> Vec<(f64, String)> {
        let inside = |element: &str| element.trim().to_owned();
        let elements = image.split("<text ").skip(1);
        let text = elements.map(|element| {
            let (attributes, rest) = element.split_once('>').unwrap();
            let x = attributes.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
            (x, inside(rest.split_once("</text>").unwrap().0))
        });
        text.collect()
    }

    /// Returns true for 1, 2 or 5 times a power of ten, or a small multiple of one.
    fn is_round(number: f64) -> bool {
        let digits = format!("{:e}", number.abs());
        let digits = digits.split('e').next().unwrap().replace('.', "");
        digits.trim_end_matches('0').len() <= 2
    }

    #[test]
    fn the_numbers_at_the_axes_are_round() {
        for (log, scale) in
            [false, true].into_iter().flat_map(|log| [1e-3, 0.1, 1.0, 7.3e4, 3e9].map(|scale| (log, scale)))
        {
            let image = image(&[chart(2, Shape::Line, log, scale)]).unwrap();
            let numbers: Vec<f64> = texts(&image).iter().filter_map(|(_, text)| text.parse().ok()).collect();
            // Both axes have enough marks, and not too many.
            assert!((8..=30).contains(&numbers.len()), "{log} {scale}: {numbers:?}");
            assert!(numbers.iter().all(|&number| is_round(number)), "{log} {scale}: {numbers:?}");
        }
        let axis = |start, end| Axis::linear(start..end, 8, 0.0).marks;
        assert_eq!(
            axis(0.0, 0.7),
            [0.0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6000000000000001, 0.7000000000000001]
        );
        assert_eq!(
            axis(0.0, 0.7).iter().map(Axis::format).collect::<Vec<_>>().join(" "),
            "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7"
        );
        assert_eq!(Axis::linear(1.4..5.6, 12, 1.0).marks, [2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn twenty_series_look_different() {
        for shape in [Shape::Line, Shape::Bars] {
            let look = |index| {
                let Look { colour, dash, shade } = Look::of(index);
                (
                    colour.0,
                    colour.1,
                    colour.2,
                    if shape == Shape::Line { dash.0 * 100 + dash.1 } else { (shade * 100.0) as u32 },
                )
            };
            let looks: std::collections::HashSet<_> = (0..20).map(look).collect();
            assert_eq!(looks.len(), 20);
        }
    }

    #[test]
    fn the_legend_stands_beside_the_plot() {
        for shape in [Shape::Line, Shape::Bars] {
            let chart = chart(9, shape, false, 1.0);
            let image = image(&[chart]).unwrap();
            let texts = texts(&image);
            let names: Vec<f64> =
                texts.iter().filter(|(_, text)| text.starts_with("series")).map(|(x, _)| *x).collect();
            assert_eq!(names.len(), 9);
            let legend = names.iter().copied().fold(f64::INFINITY, f64::min) - 44.0;
            // Everything else: texts, dots, and the corners of lines and bars.
            let labels = texts.iter().filter(|(_, text)| !text.starts_with("series")).map(|(x, _)| *x);
            assert!(labels.max_by(f64::total_cmp).unwrap() < legend);
            let marks = |attribute: &str| -> Vec<f64> {
                image.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
            };
            let drawn = [marks("<circle cx=\""), marks("<rect x=\"")].concat();
            let (beside, within): (Vec<f64>, Vec<f64>) = drawn.iter().partition(|&&x| x >= legend);
            assert_eq!(beside.len(), 9, "one mark a name: {beside:?}");
            assert!(within.len() >= 9 * 23);
        }
    }

    #[test]
    fn one_series_needs_no_legend_and_none_no_picture() {
        let image = super::image(&[chart(1, Shape::Line, false, 1.0)]).unwrap();
        assert!(!image.contains("series 0"));
        assert_eq!(super::image(&[chart(0, Shape::Line, false, 1.0)]).unwrap(), "");
    }
}
