//! A numbering of the coordinates in which coupled ones are neighbours (reverse Cuthill–McKee, 1969).
//!
//! From the pairs of coordinates that occur together in second derivatives, to positions and the bandwidth
//! they leave. Linear in the number of pairs but for sorting each coordinate's neighbours.

/// Positions of coordinates in the matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordering {
    /// coordinate → position
    pub position: Vec<usize>,
    /// The largest distance between the positions of coupled coordinates.
    pub bandwidth: usize,
}

impl Ordering {
    /// The better of the given numbering and the reverse Cuthill–McKee one.
    pub fn new(size: usize, pairs: &[(usize, usize)]) -> Self {
        let natural: Vec<usize> = (0..size).collect();
        let bandwidth = bandwidth_of(&natural, pairs);
        if bandwidth <= 1 {
            return Self { position: natural, bandwidth };
        }
        let position = reverse_cuthill_mckee(size, pairs);
        let reordered = bandwidth_of(&position, pairs);
        if reordered < bandwidth {
            Self { position, bandwidth: reordered }
        } else {
            Self { position: natural, bandwidth }
        }
    }
}

fn bandwidth_of(position: &[usize], pairs: &[(usize, usize)]) -> usize {
    pairs.iter().map(|&(i, j)| position[i].abs_diff(position[j])).max().unwrap_or(0)
}

fn reverse_cuthill_mckee(size: usize, pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); size];
    for &(i, j) in pairs {
        if i != j {
            neighbours[i].push(j);
            neighbours[j].push(i);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    for list in &mut neighbours {
        list.sort_by_key(|&j| degree[j]);
    }
    let mut starts: Vec<usize> = (0..size).collect();
    starts.sort_by_key(|&i| degree[i]);

    let mut order: Vec<usize> = Vec::with_capacity(size);
    let mut seen = vec![false; size];
    for start in starts {
        if seen[start] {
            continue;
        }
        let start = far_end(start, &neighbours);
        let mut next = order.len();
        seen[start] = true;
        order.push(start);
        while next < order.len() {
            for &j in &neighbours[order[next]] {
                if !std::mem::replace(&mut seen[j], true) {
                    order.push(j);
                }
            }
            next += 1;
        }
    }
    let mut position = vec![0; size];
    for (place, &i) in order.iter().rev().enumerate() {
        position[i] = place;
    }
    position
}

/// A coordinate at the rim of the component of `start`: the last one a breadth-first search reaches.
fn far_end(start: usize, neighbours: &[Vec<usize>]) -> usize {
    let mut reached = vec![start];
    let mut seen = std::collections::HashSet::from([start]);
    let mut next = 0;
    while next < reached.len() {
        for &j in &neighbours[reached[next]] {
            if seen.insert(j) {
                reached.push(j);
            }
        }
        next += 1;
    }
    reached[reached.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_chain_becomes_tridiagonal() {
        let size = 101;
        // chain in the order 0, 37, 74, 10, …: neighbours far apart in number
        let pairs: Vec<_> = (0..size - 1).map(|k| (k * 37 % size, (k + 1) * 37 % size)).collect();
        let ordering = Ordering::new(size, &pairs);
        assert_eq!(ordering.bandwidth, 1);
        let mut seen = ordering.position.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..size).collect::<Vec<_>>());
    }

    #[test]
    fn a_ring_has_bandwidth_two() {
        let pairs: Vec<_> = (0..200).map(|i| (i, (i + 1) % 200)).collect();
        assert_eq!(Ordering::new(200, &pairs).bandwidth, 2);
    }

    #[test]
    fn uncoupled_coordinates_keep_their_order() {
        let ordering = Ordering::new(4, &[]);
        assert_eq!((ordering.position, ordering.bandwidth), (vec![0, 1, 2, 3], 0));
    }
}
