//! Modules of crates, and the uses between their files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// A module: a file, or a module inside a file.
#[derive(Debug)]
pub(super) struct Module {
    /// The module's folder or file among its siblings, from the root of the sources.
    pub place: PathBuf,
    /// File with the text of the module.
    pub file: PathBuf,
    /// Parent module; `None` for the root of a crate.
    pub parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Imported names, with their paths.
    imports: Vec<Import>,
    /// Names of the module's own items.
    items: Vec<String>,
    /// Other paths in the text.
    paths: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Import {
    /// Imported name; `None` for all names of a module.
    name: Option<String>,
    path: Vec<String>,
    /// True for a re-export.
    is_public: bool,
}

/// All modules of some crates.
#[derive(Debug)]
pub(super) struct Sources {
    modules: Vec<Module>,
    roots: BTreeMap<String, usize>,
}

impl Sources {
    /// Reads crates, each given by the name by which others use it and its root below `directory`.
    pub(super) fn read(directory: &Path, crates: &[(&str, &str)]) -> Sources {
        let mut sources = Sources { modules: Vec::new(), roots: BTreeMap::new() };
        for (name, root) in crates {
            let file = directory.join(root);
            let root = sources.add_file(directory, &file, file.parent().unwrap(), None);
            sources.roots.insert((*name).to_owned(), root);
        }
        sources
    }

    /// All modules.
    pub(super) fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Pairs of modules of which the first uses an item that the second defines.
    pub(super) fn uses(&self) -> Vec<(usize, usize)> {
        let mut uses = Vec::new();
        for (user, module) in self.modules.iter().enumerate() {
            // A re-export by a folder of items in its files is no use.
            let imports = module.imports.iter().filter(|import| !import.is_public).map(|import| &import.path);
            for path in imports.chain(&module.paths) {
                let used = self.resolve(user, path, 0);
                uses.extend(used.filter(|&used| used != user).map(|used| (user, used)));
            }
        }
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    fn add_file(&mut self, root: &Path, file: &Path, folder: &Path, parent: Option<usize>) -> usize {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let is_folder = file.file_name().is_some_and(|name| name == "mod.rs");
        let place = if is_folder { file.parent().unwrap() } else { file };
        self.add(root, place, file, folder, parent, &parsed.items)
    }

    fn add(
        &mut self,
        root: &Path,
        place: &Path,
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
        items: &[Item],
    ) -> usize {
        let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
        let index = self.modules.len();
        self.modules.push(Module {
            place: relative(place),
            file: relative(file),
            parent,
            children: BTreeMap::new(),
            imports: Vec::new(),
            items: Vec::new(),
            paths: Vec::new(),
        });
        let mut text = Text::default();
        for item in items {
            text.visit_item(item);
        }
        let Text { imports, items, paths, modules } = text;
        self.modules[index].imports = imports;
        self.modules[index].items = items;
        self.modules[index].paths = paths;
        for module in modules {
            let name = module.ident.to_string();
            let inner = folder.join(&name);
            let child = match &module.content {
                // Its files may be in a folder of their own.
                Some((_, items)) => {
                    let place = if inner.is_dir() { &*inner } else { file };
                    self.add(root, place, file, &inner, Some(index), items)
                }
                None => {
                    let flat = folder.join(format!("{name}.rs"));
                    let file = if flat.exists() { flat } else { inner.join("mod.rs") };
                    self.add_file(root, &file, &inner, Some(index))
                }
            };
            self.modules[index].children.insert(name, child);
        }
        index
    }

    /// Returns the module that defines the item of `path` in the module `from`; `None` if it is of another crate.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(self.root_of(from), rest, depth),
            "self" => self.descend(from, rest, depth),
            "super" => match rest.first() {
                Some(_) => self.resolve_above(self.modules[from].parent?, rest, depth),
                None => self.modules[from].parent,
            },
            name => {
                let module = &self.modules[from];
                if let Some(&child) = module.children.get(name) {
                    return self.descend(child, rest, depth);
                }
                if self.imports_of(from, name).next().is_some() {
                    return self.descend(from, path, depth);
                }
                self.descend(*self.roots.get(name)?, rest, depth)
            }
        }
    }

    /// Resolves the rest of a path after `super`, which may be another `super`.
    fn resolve_above(&self, parent: usize, rest: &[String], depth: usize) -> Option<usize> {
        if rest[0] == "super" { self.resolve(parent, rest, depth) } else { self.descend(parent, rest, depth) }
    }

    /// Follows names down from a module to the one that defines the item.
    fn descend(&self, module: usize, path: &[String], depth: usize) -> Option<usize> {
        // Globs of two modules may name each other.
        let deeper = depth + 1;
        if deeper > 20 {
            return None;
        }
        let Some((name, rest)) = path.split_first() else { return Some(module) };
        if name == "self" || self.modules[module].items.contains(name) {
            return Some(module);
        }
        if let Some(&child) = self.modules[module].children.get(name) {
            return self.descend(child, rest, deeper);
        }
        if let Some(import) = self.imports_of(module, name).next() {
            let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.resolve(module, &path, deeper);
        }
        let globs = self.modules[module].imports.iter().filter(|import| import.name.is_none() && import.is_public);
        for glob in globs {
            let target = self.resolve(module, &glob.path, deeper);
            let found = target
                .filter(|&target| self.has(target, name, deeper))
                .and_then(|target| self.descend(target, path, deeper));
            if found.is_some() {
                return found;
            }
        }
        Some(module)
    }

    /// Returns true if a module defines a name or re-exports it.
    fn has(&self, module: usize, name: &String, depth: usize) -> bool {
        let this = &self.modules[module];
        let globs = || this.imports.iter().filter(|import| import.name.is_none() && import.is_public);
        this.items.contains(name)
            || this.children.contains_key(name)
            || self.imports_of(module, name).next().is_some()
            || depth < 20
                && globs().any(|glob| {
                    let target = self.resolve(module, &glob.path, depth + 1);
                    target.is_some_and(|target| self.has(target, name, depth + 1))
                })
    }

    fn imports_of<'s>(&'s self, module: usize, name: &'s str) -> impl Iterator<Item = &'s Import> {
        let imports = self.modules[module].imports.iter();
        // `use name::Item` imports no `name` from itself.
        imports.filter(move |import| {
            import.name.as_deref() == Some(name) && import.path.first().is_none_or(|first| first != name)
        })
    }

    fn root_of(&self, mut module: usize) -> usize {
        while let Some(parent) = self.modules[module].parent {
            module = parent;
        }
        module
    }
}

/// Contents of the text of a module.
#[derive(Default)]
struct Text {
    imports: Vec<Import>,
    items: Vec<String>,
    paths: Vec<Vec<String>>,
    modules: Vec<ItemMod>,
}

impl Text {
    fn import(&mut self, tree: &UseTree, mut path: Vec<String>, is_public: bool) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path, is_public);
            }
            UseTree::Name(name) if name.ident == "self" => {
                self.imports.push(Import { name: path.last().cloned(), path, is_public });
            }
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.imports.push(Import { name: path.last().cloned(), path, is_public });
            }
            UseTree::Rename(name) => {
                path.push(name.ident.to_string());
                self.imports.push(Import { name: Some(name.rename.to_string()), path, is_public });
            }
            UseTree::Glob(_) => self.imports.push(Import { name: None, path, is_public }),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, path.clone(), is_public);
                }
            }
        }
    }
}

impl<'a> Visit<'a> for Text {
    fn visit_item(&mut self, item: &'a Item) {
        let (name, attributes) = match item {
            Item::Const(item) => (Some(&item.ident), &item.attrs),
            Item::Enum(item) => (Some(&item.ident), &item.attrs),
            Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            Item::Static(item) => (Some(&item.ident), &item.attrs),
            Item::Struct(item) => (Some(&item.ident), &item.attrs),
            Item::Trait(item) => (Some(&item.ident), &item.attrs),
            Item::Type(item) => (Some(&item.ident), &item.attrs),
            Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
            Item::Mod(item) => (None, &item.attrs),
            _ => (None, &Vec::new()),
        };
        if is_left_out(attributes) {
            return;
        }
        self.items.extend(name.map(|name| name.to_string()));
        match item {
            Item::Mod(module) => self.modules.push(module.clone()),
            item => syn::visit::visit_item(self, item),
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.import(&item.tree, Vec::new(), !matches!(item.vis, Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.segments.len() > 1 {
            self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }
}

/// Returns true for tests, and for code that is compiled only without a feature.
fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let condition = list.tokens.to_string();
        condition == "test" || condition.starts_with("not")
    })
}
