//! What the peers share: facts in, numbers of tuples out.

use std::{env, fs, path::Path, process::exit};

/// A program takes the folder of its facts and returns the numbers of tuples
/// that redfox prints for the program of the same name.
pub type Program = fn(&Path) -> Vec<usize>;

/// Runs the program that the first argument names over the facts in the folder
/// of the second, and prints its numbers.
pub fn main(programs: &[(&str, Program)]) {
    let arguments: Vec<String> = env::args().collect();
    let program = programs.iter().find(|p| Some(p.0) == arguments.get(1).map(String::as_str));
    let (Some(program), [_, _, folder]) = (program, &arguments[..]) else {
        let names: Vec<&str> = programs.iter().map(|p| p.0).collect();
        eprintln!("usage: {} {} FOLDER", arguments[0], names.join("|"));
        exit(2);
    };
    let counts: Vec<String> = program.1(Path::new(folder)).iter().map(usize::to_string).collect();
    println!("{}", counts.join("\t"));
}

/// Reads the pairs of FOLDER/NAME.tsv.
pub fn pairs(folder: &Path, name: &str) -> Vec<(u32, u32)> {
    let file = folder.join(name).with_extension("tsv");
    let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines()
        .map(|line| {
            let number = |s: &str| s.parse().ok();
            line.split_once('\t')
                .and_then(|(x, y)| Some((number(x)?, number(y)?)))
                .unwrap_or_else(|| panic!("{}: {line:?} is not a pair of numbers", file.display()))
        })
        .collect()
}

/// Swaps the columns of pairs.
pub fn swapped(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    pairs.iter().map(|&(x, y)| (y, x)).collect()
}

/// The pairs of a graph without direction, the smaller node first.
pub fn undirected(edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    edges.iter().filter(|(x, y)| x != y).map(|&(x, y)| (x.min(y), x.max(y))).collect()
}
