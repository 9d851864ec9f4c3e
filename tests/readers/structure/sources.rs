//! Modules of crates, and the uses between their files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// A module: a file, or a module inside a file.
pub(super) struct Module {
    /// The module's folder or file among its siblings, from the root of the sources.
    pub place: PathBuf,
    /// File with the text of the module.
    pub file: PathBuf,
    /// Parent module; `None` for the root of a crate.
    pub parent: Option<usize>,
    children: BTreeMap<String, usize>,
    text: Text,
}

struct Import {
    /// Imported name; `None` for all names of a module.
    name: Option<String>,
    path: Vec<String>,
    /// True for a re-export.
    is_public: bool,
}

/// All modules of some crates.
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
            let imports = module.text.imports.iter().filter(|import| !import.is_public).map(|import| &import.path);
            for path in imports.chain(&module.text.paths) {
                let used = self.resolve(user, path, 0);
                uses.extend(used.filter(|&used| used != user).map(|used| (user, used)));
            }
        }
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    fn add_file(&mut self, top: &Path, file: &Path, folder: &Path, parent: Option<usize>) -> usize {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let is_folder = file.file_name().is_some_and(|name| name == "mod.rs");
        let place = if is_folder { file.parent().unwrap() } else { file };
        self.add(top, (place, file, folder), parent, &parsed.items)
    }

    /// Adds a module by its place, the file with its text, and the folder with the files of its children.
    fn add(
        &mut self,
        top: &Path,
        (place, file, folder): (&Path, &Path, &Path),
        parent: Option<usize>,
        items: &[Item],
    ) -> usize {
        let [place, of] = [place, file].map(|path| path.strip_prefix(top).unwrap_or(path).to_owned());
        let mut text = Text::default();
        items.iter().for_each(|item| text.visit_item(item));
        let (index, modules) = (self.modules.len(), std::mem::take(&mut text.modules));
        self.modules.push(Module { place, file: of, parent, children: BTreeMap::new(), text });
        for module in modules {
            let name = module.ident.to_string();
            let inner = folder.join(&name);
            let child = match &module.content {
                // Its files may be in a folder of their own.
                Some((_, items)) => {
                    let place = if inner.is_dir() { &*inner } else { file };
                    self.add(top, (place, file, &inner), Some(index), items)
                }
                None => {
                    let flat = folder.join(format!("{name}.rs"));
                    let file = if flat.exists() { flat } else { inner.join("mod.rs") };
                    self.add_file(top, &file, &inner, Some(index))
                }
            };
            self.modules[index].children.insert(name, child);
        }
        index
    }

    /// Returns the module that defines the item of `path` in the module `from`; `None` if it is of another crate.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        let module = &self.modules[from];
        match first.as_str() {
            "crate" => self.descend(self.root_of(from), rest, depth),
            "self" => self.descend(from, rest, depth),
            "super" if rest.first().is_some_and(|next| next == "super") => self.resolve(module.parent?, rest, depth),
            "super" => self.descend(module.parent?, rest, depth),
            name if module.children.contains_key(name) || self.import(from, name).is_some() => {
                self.descend(from, path, depth)
            }
            name => self.descend(*self.roots.get(name)?, rest, depth),
        }
    }

    /// Follows names down from a module to the one that defines the item.
    fn descend(&self, module: usize, path: &[String], depth: usize) -> Option<usize> {
        self.find(module, path, depth).unwrap_or(Some(module))
    }

    /// The same, but `None` if the module neither defines nor re-exports the first name.
    fn find(&self, module: usize, path: &[String], depth: usize) -> Option<Option<usize>> {
        // Globs of two modules may name each other.
        let deeper = depth + 1;
        let (name, rest) = path.split_first().filter(|_| deeper <= 20)?;
        let this = &self.modules[module];
        if name == "self" || this.text.items.contains(name) {
            return Some(Some(module));
        }
        if let Some(&child) = this.children.get(name) {
            return Some(self.descend(child, rest, deeper));
        }
        if let Some(import) = self.import(module, name) {
            let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return Some(self.resolve(module, &path, deeper));
        }
        let mut globs = this.text.imports.iter().filter(|import| import.name.is_none() && import.is_public);
        globs.find_map(|glob| self.find(self.resolve(module, &glob.path, deeper)?, path, deeper)?).map(Some)
    }

    fn import(&self, module: usize, name: &str) -> Option<&Import> {
        // `use name::Item` imports no `name` from itself.
        self.modules[module].text.imports.iter().find(|import| {
            import.name.as_deref() == Some(name) && import.path.first().is_none_or(|first| first != name)
        })
    }

    fn root_of(&self, module: usize) -> usize {
        self.modules[module].parent.map_or(module, |parent| self.root_of(parent))
    }
}

/// Contents of the text of a module.
#[derive(Default)]
struct Text {
    /// Imported names, with their paths.
    imports: Vec<Import>,
    /// Names of the module's own items.
    items: Vec<String>,
    /// Other paths in the text.
    paths: Vec<Vec<String>>,
    /// Modules inside, until they are added.
    modules: Vec<ItemMod>,
}

impl Text {
    fn add_import(&mut self, tree: &UseTree, mut path: Vec<String>, is_public: bool) {
        let name = match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                return self.add_import(&inner.tree, path, is_public);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.add_import(tree, path.clone(), is_public));
            }
            UseTree::Name(name) => {
                path.extend((name.ident != "self").then(|| name.ident.to_string()));
                path.last().cloned()
            }
            UseTree::Rename(name) => {
                path.push(name.ident.to_string());
                Some(name.rename.to_string())
            }
            UseTree::Glob(_) => None,
        };
        self.imports.push(Import { name, path, is_public });
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
        self.add_import(&item.tree, Vec::new(), !matches!(item.vis, Visibility::Inherited));
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
