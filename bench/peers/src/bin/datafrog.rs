//! The programs of testdata/graphs in datafrog: semi-naive evaluation over
//! sorted vectors, written by hand. A variable is keyed by its first column.

use std::{cell::Cell, path::Path};

use datafrog::{Iteration, Relation, RelationLeaper};
use peers::{pairs, swapped, undirected};

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

fn tc(folder: &Path) -> Vec<usize> {
    let edges = pairs(folder, "edge");
    let edge: Relation<_> = edges.iter().copied().collect();
    let mut iteration = Iteration::new();
    let tc = iteration.variable::<(u32, u32)>("tc(y, x)");
    tc.extend(swapped(&edges));
    while iteration.changed() {
        tc.from_join(&tc, &edge, |_, &x, &z| (z, x));
    }
    vec![tc.complete().len()]
}

fn sg(folder: &Path) -> Vec<usize> {
    let edge: Relation<_> = pairs(folder, "edge").into();
    let mut iteration = Iteration::new();
    let sg = iteration.variable::<(u32, u32)>("sg(a, b)");
    let half = iteration.variable::<(u32, u32)>("half(b, x)");
    let siblings = Relation::from_join(&edge, &edge, |_, &x, &y| (x, y));
    sg.extend(siblings.iter().filter(|(x, y)| x != y));
    while iteration.changed() {
        half.from_join(&sg, &edge, |_, &b, &x| (b, x));
        sg.from_join(&half, &edge, |_, &x, &y| (x, y));
    }
    vec![sg.complete().len()]
}

fn triangles(folder: &Path) -> Vec<usize> {
    let edge: Relation<_> = pairs(folder, "edge").into();
    let count = Cell::new(0);
    Relation::from_leapjoin(
        &edge,
        (edge.extend_with(|&(_, y)| y), edge.extend_with(|&(x, _)| x)),
        |_, _| count.set(count.get() + 1),
    );
    vec![count.get()]
}

fn cliques(folder: &Path) -> Vec<usize> {
    let pair: Relation<_> = undirected(&pairs(folder, "edge")).into();
    let triangle = Relation::from_leapjoin(
        &pair,
        (pair.extend_with(|&(x, _)| x), pair.extend_with(|&(_, y)| y)),
        |&(x, y), &z| (x, y, z),
    );
    let count = Cell::new(0);
    Relation::from_leapjoin(
        &triangle,
        (
            pair.extend_with(|&(x, _, _)| x),
            pair.extend_with(|&(_, y, _)| y),
            pair.extend_with(|&(_, _, z)| z),
        ),
        |_, _| count.set(count.get() + 1),
    );
    vec![count.get()]
}

fn cspa(folder: &Path) -> Vec<usize> {
    let assigned = pairs(folder, "assign");
    let dereference: Relation<_> = pairs(folder, "dereference").into();
    let assign_to: Relation<_> = swapped(&assigned).into();
    let mut iteration = Iteration::new();
    let value_flow = iteration.variable::<(u32, u32)>("valueFlow(x, y)");
    let value_flow_to = iteration.variable::<(u32, u32)>("valueFlow(y, x)");
    let memory_alias = iteration.variable::<(u32, u32)>("memoryAlias(x, y)");
    let value_alias = iteration.variable::<(u32, u32)>("valueAlias(x, y)");
    let through_memory = iteration.variable::<(u32, u32)>("throughMemory(w, x)");
    let dereferenced = iteration.variable::<(u32, u32)>("dereferenced(z, x)");
    let itself = || assigned.iter().flat_map(|&(x, y)| [(x, x), (y, y)]);
    value_flow.extend(assigned.iter().copied().chain(itself()));
    memory_alias.extend(itself());
    while iteration.changed() {
        value_flow_to.from_map(&value_flow, |&(x, y)| (y, x));
        value_flow.from_join(&memory_alias, &assign_to, |_, &y, &x| (x, y));
        value_flow.from_join(&value_flow_to, &value_flow, |_, &x, &y| (x, y));
        dereferenced.from_join(&value_alias, &dereference, |_, &z, &x| (z, x));
        memory_alias.from_join(&dereferenced, &dereference, |_, &x, &w| (x, w));
        value_alias.from_join(&value_flow, &value_flow, |_, &x, &y| (x, y));
        through_memory.from_join(&value_flow, &memory_alias, |_, &x, &w| (w, x));
        value_alias.from_join(&through_memory, &value_flow, |_, &x, &y| (x, y));
    }
    vec![
        value_flow.complete().len(),
        memory_alias.complete().len(),
        value_alias.complete().len(),
    ]
}

fn andersen(folder: &Path) -> Vec<usize> {
    let assign_to: Relation<_> = swapped(&pairs(folder, "assign")).into();
    let load_from: Relation<_> = swapped(&pairs(folder, "load")).into();
    let store: Relation<_> = pairs(folder, "store").into();
    let mut iteration = Iteration::new();
    let points_to = iteration.variable::<(u32, u32)>("pointsTo(y, x)");
    let loaded = iteration.variable::<(u32, u32)>("loaded(z, y)");
    let stored = iteration.variable::<(u32, u32)>("stored(x, z)");
    points_to.extend(pairs(folder, "addr"));
    while iteration.changed() {
        points_to.from_join(&points_to, &assign_to, |_, &x, &y| (y, x));
        loaded.from_join(&points_to, &load_from, |_, &z, &y| (z, y));
        points_to.from_join(&loaded, &points_to, |_, &y, &w| (y, w));
        stored.from_join(&points_to, &store, |_, &z, &x| (x, z));
        points_to.from_join(&stored, &points_to, |_, &z, &w| (z, w));
    }
    vec![points_to.complete().len()]
}
