//! The name that was probably meant.

/// The known name nearest to `wrong`, if one is near enough to be worth naming.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let allowed = (wrong.chars().count() / 3).clamp(1, 5);
    known
        .into_iter()
        .map(|name| (closeness(&wrong, &name.to_lowercase()), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, name)| (distance, name.len()))
        .map(|(_, name)| name)
}

/// Edits between the two; a name that only lacks the alias in front (`transfer` for `usdc__transfer`) counts as one.
fn closeness(wrong: &str, known: &str) -> usize {
    let bare = known.rsplit("__").next().unwrap_or(known);
    let whole = distance(wrong, known);
    if bare == known { whole } else { whole.min(distance(wrong, bare) + 1) }
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(128).collect();
    let b: Vec<char> = b.chars().take(128).collect();
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &left) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, &right) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(left != right);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && left == b[j - 1] && a[i - 1] == right {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_find_their_name() {
        let known = ["usdc__transfer", "usdc__approval", "_rejected"];
        assert_eq!(nearest("usdc__trasnfer", known), Some("usdc__transfer"));
        assert_eq!(nearest("USDC__Aproval", known), Some("usdc__approval"));
        assert_eq!(nearest("transfer", known), Some("usdc__transfer"));
        assert_eq!(nearest("rejected", known), Some("_rejected"));
        assert_eq!(nearest("pool_swaps", known), None);
    }

    #[test]
    fn distance_counts_a_swap_once() {
        assert_eq!(distance("value", "vlaue"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
