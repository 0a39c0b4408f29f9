//! The programs of testdata/graphs in ascent, which compiles rules to Rust with
//! hash indices. The rules are those of redfox.

use std::path::Path;

use ascent::ascent;
use peers::{pairs, undirected};

fn main() {
    peers::main(&[
        ("tc", tc),
        ("sg", sg),
        ("triangles", triangles),
        ("cliques", cliques),
        ("cspa", cspa),
        ("andersen", andersen),
    ]);
}

ascent! {
    struct Closure;
    relation edge(u32, u32);
    relation tc(u32, u32);
    tc(x, y) <-- edge(x, y);
    tc(x, z) <-- tc(x, y), edge(y, z);
}

fn tc(folder: &Path) -> Vec<usize> {
    let mut p = Closure { edge: pairs(folder, "edge"), ..Closure::default() };
    p.run();
    vec![p.tc.len()]
}

ascent! {
    struct SameGeneration;
    relation edge(u32, u32);
    relation sg(u32, u32);
    sg(x, y) <-- edge(p, x), edge(p, y), if x != y;
    sg(x, y) <-- sg(a, b), edge(a, x), edge(b, y);
}

fn sg(folder: &Path) -> Vec<usize> {
    let mut p = SameGeneration { edge: pairs(folder, "edge"), ..SameGeneration::default() };
    p.run();
    vec![p.sg.len()]
}

ascent! {
    struct Triangles;
    relation edge(u32, u32);
    relation triangle(u32, u32, u32);
    triangle(x, y, z) <-- edge(x, y), edge(y, z), edge(x, z);
}

fn triangles(folder: &Path) -> Vec<usize> {
    let mut p = Triangles { edge: pairs(folder, "edge"), ..Triangles::default() };
    p.run();
    vec![p.triangle.len()]
}

ascent! {
    struct Cliques;
    relation pair(u32, u32);
    relation clique(u32, u32, u32, u32);
    clique(x, y, z, w) <--
        pair(x, y), pair(x, z), pair(y, z), pair(x, w), pair(y, w), pair(z, w);
}

fn cliques(folder: &Path) -> Vec<usize> {
    let mut p = Cliques { pair: undirected(&pairs(folder, "edge")), ..Cliques::default() };
    p.run();
    vec![p.clique.len()]
}

ascent! {
    struct Aliases;
    relation assign(u32, u32);
    relation dereference(u32, u32);
    relation value_flow(u32, u32);
    relation memory_alias(u32, u32);
    relation value_alias(u32, u32);
    value_flow(y, x) <-- assign(y, x);
    value_flow(x, x) <-- assign(x, _);
    value_flow(x, x) <-- assign(_, x);
    value_flow(x, y) <-- assign(x, z), memory_alias(z, y);
    value_flow(x, y) <-- value_flow(x, z), value_flow(z, y);
    memory_alias(x, x) <-- assign(_, x);
    memory_alias(x, x) <-- assign(x, _);
    memory_alias(x, w) <-- dereference(y, x), value_alias(y, z), dereference(z, w);
    value_alias(x, y) <-- value_flow(z, x), value_flow(z, y);
    value_alias(x, y) <-- value_flow(z, x), memory_alias(z, w), value_flow(w, y);
}

fn cspa(folder: &Path) -> Vec<usize> {
    let mut p = Aliases {
        assign: pairs(folder, "assign"),
        dereference: pairs(folder, "dereference"),
        ..Aliases::default()
    };
    p.run();
    vec![p.value_flow.len(), p.memory_alias.len(), p.value_alias.len()]
}

ascent! {
    struct Pointers;
    relation addr(u32, u32);
    relation assign(u32, u32);
    relation load(u32, u32);
    relation store(u32, u32);
    relation points_to(u32, u32);
    points_to(y, x) <-- addr(y, x);
    points_to(y, x) <-- assign(y, z), points_to(z, x);
    points_to(y, w) <-- load(y, x), points_to(x, z), points_to(z, w);
    points_to(z, w) <-- store(y, x), points_to(y, z), points_to(x, w);
}

fn andersen(folder: &Path) -> Vec<usize> {
    let mut p = Pointers {
        addr: pairs(folder, "addr"),
        assign: pairs(folder, "assign"),
        load: pairs(folder, "load"),
        store: pairs(folder, "store"),
        ..Pointers::default()
    };
    p.run();
    vec![p.points_to.len()]
}
