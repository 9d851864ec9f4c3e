use std::sync::Arc;

use kalah_core::index::RowIndex;
use kalah_core::table::{Blocks, BoundTable, BoundTables, Table, Tables};

/// The table of a layer.
#[derive(Clone, Copy)]
pub(crate) enum Layer<'a> {
    Exact(&'a Table),
    Bounds(&'a BoundTable),
}

/// The layers that a search reads: exact tables from 2 seeds up, and bound tables above them, without a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layers<'a> {
    /// The exact tables; `None` if none is read.
    pub tables: Option<&'a Tables>,
    /// The bound tables; `None` if none is read.
    pub bounds: Option<&'a BoundTables>,
    /// The largest layer that is read from an exact table; 0 for none.
    pub exact: usize,
    /// The largest layer that is read; 0 for none.
    pub reach: usize,
}

impl<'a> Layers<'a> {
    /// The layers of `tables` up to `exact` seeds, and above them those of `bounds` up to `reach` seeds. Bound
    /// tables above a layer with neither kind of table are left out.
    pub(crate) fn new(
        tables: Option<&'a Tables>,
        bounds: Option<&'a BoundTables>,
        exact: usize,
        reach: usize,
    ) -> Layers<'a> {
        let exact = tables.and_then(Tables::max_seeds).unwrap_or(0).min(exact).min(reach);
        let exact = if exact < 2 { 0 } else { exact };
        let next = exact.max(1) + 1;
        let bounds = bounds.filter(|bounds| bounds.seeds().contains(&next) && next <= reach);
        let reach = bounds.map_or(exact, |bounds| *bounds.seeds().end().min(&reach));
        Layers { tables: tables.filter(|_| exact > 0), bounds, exact, reach }
    }

    /// The ranks of the rows of all layers; `None` without layers.
    pub(crate) fn rows(&self) -> Option<&'a Arc<RowIndex>> {
        self.bounds.map(BoundTables::rows).or(self.tables.map(Tables::rows))
    }

    /// The seeds of the layers, fewest first.
    pub(crate) fn seeds(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        2..self.reach + 1
    }

    /// The table of the layer with `seeds` seeds.
    ///
    /// # Panics
    /// If that layer is not read.
    pub(crate) fn layer(&self, seeds: usize) -> Layer<'a> {
        let exact = self.tables.filter(|_| seeds <= self.exact);
        let exact = exact.and_then(|tables| tables.layer(seeds)).map(Layer::Exact);
        let bounds = || self.bounds.and_then(|bounds| bounds.layer(seeds)).map(Layer::Bounds);
        exact.or_else(bounds).expect("a layer in use")
    }

    /// The file of the layer with `seeds` seeds, which is read.
    pub(crate) fn blocks(&self, seeds: usize) -> &'a Blocks {
        match self.layer(seeds) {
            Layer::Exact(table) => table.blocks(),
            Layer::Bounds(table) => table.blocks(),
        }
    }

    /// The files of all layers, fewest seeds first.
    pub(crate) fn files(&self) -> impl DoubleEndedIterator<Item = &'a Blocks> + use<'a> {
        let layers = *self;
        self.seeds().map(move |seeds| layers.blocks(seeds))
    }
}
