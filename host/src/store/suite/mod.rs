//! What every backend must do, written against the traits alone. [`behaviours!`] makes one test of each for a backend.
#![allow(clippy::unwrap_used)]

pub(crate) mod branches;
pub(crate) mod commits;
pub(crate) mod endpoints;
pub(crate) mod halts;
pub(crate) mod model;
pub(crate) mod sealing;
pub(crate) mod tidying;
pub(crate) mod world;

/// One test for each behaviour. `$open` is an expression that makes a fresh store, which [`world::Opened`] keeps alive.
macro_rules! behaviours {
    ($open:expr => $($group:ident: $($name:ident),+;)+) => {
        $(mod $group {
            $(#[tokio::test]
            async fn $name() {
                let opened = $open.await;
                crate::store::suite::$group::$name(&opened.store).await;
            })+
        })+
    };
}
pub(crate) use behaviours;

/// All behaviours, for a backend's tests to expand.
macro_rules! all_behaviours {
    ($open:expr) => {
        crate::store::suite::behaviours! { $open =>
            commits: rows_and_progress_come_back, a_repeated_commit_changes_nothing, a_commit_from_elsewhere_is_refused,
                another_branch_is_refused, final_blocks_need_no_branch, blocks_stay_contiguous,
                the_final_block_never_falls, a_window_ends_on_a_block_of_the_cursor, chunks_stay_in_their_window,
                a_commit_is_whole_or_nothing, a_reader_sees_one_commit, readers_beside_a_writer_see_whole_commits;
            branches: a_rollback_cuts_the_spanning_chunk, a_rollback_covers_every_dataset,
                a_rollback_never_undoes_the_final_block, a_rollback_needs_its_branch, a_failed_replacement_cuts_nothing,
                a_dataset_that_begins_above_the_ancestor_starts_over, a_fault_whose_block_is_gone_is_cleared,
                a_branch_that_comes_back_brings_its_chunks, ignored_and_rejected_rows_are_cut_too;
            endpoints: epochs_count_changes, epochs_outlive_rows, a_named_dataset_is_not_dropped,
                a_dropped_dataset_is_gone, numbers_are_never_used_again, one_key_is_one_dataset,
                a_backfilled_dataset_is_not_shared;
            halts: a_quarantined_dataset_stands_still, a_halted_cursor_stands_still, rebuild_starts_again_above_the_fork,
                rebuild_from_nothing;
            tidying: merging_keeps_rows_and_settles, merging_leaves_what_is_not_final, a_growing_table_stays_small,
                retired_bytes_stay_until_the_sweep, dropping_frees_everything;
            sealing: a_seal_moves_its_rows_once, only_final_rows_are_sealed,
                an_upload_that_took_too_long_is_not_named, keys_outlive_their_dataset,
                a_fork_has_another_name_and_the_same_rows;
            model: random_histories_match_a_simple_model;
        }
    };
}
pub(crate) use all_behaviours;
