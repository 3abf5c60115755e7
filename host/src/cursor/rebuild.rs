//! Accepting a reorg below the final block.

use super::CursorError;
use super::agreement::{agreed, footing};
use crate::chain::Source;
use crate::store::HotStore;

/// Accepts a reorg below the final block: every dataset that reaches above the fork starts again. Says what it did.
///
/// Of blocks below the final one the store knows those that datasets stand on, so the fork is taken to lie above the
/// highest of these up to which the endpoints agree with all.
pub async fn rebuild(source: &dyn Source, store: &dyn HotStore) -> Result<String, CursorError> {
    let state = store.read().await?.state().await?;
    if state.halted.is_none() {
        return Ok("the cursor is not halted; nothing to rebuild".to_owned());
    }
    let footing = footing(&state);
    let agreed = agreed(source, &footing).await?;
    if agreed == footing.len() {
        store.set_halted(None).await?;
        return Ok("the endpoints agree with what is stored again; nothing to rebuild, the cursor goes on".to_owned());
    }
    let ancestor = agreed.checked_sub(1).map(|last| footing[last]);
    store.rebuild(ancestor).await?;
    Ok(match ancestor {
        Some(block) => format!("what lies above block {block} is decoded again"),
        None => "everything is decoded again".to_owned(),
    })
}
