//! Sealed history: rows that are final and whose cut is due become immutable Parquet files, named by their content.
//!
//! Where a segment is cut ([`CutRule`]) and which bytes it has ([`encode`]) depend on rows and format alone, so two
//! operators make the same files. A file is uploaded under a key that is never used again ([`key`]), then one fenced
//! transaction of the hot store names it and drops the rows from the hot half ([`Sealer`]).

mod cut;
mod gc;
mod key;
mod make;
mod place;
mod schema;
mod seal;
mod straight;
mod tree;
mod write;

pub use cut::{CutRule, Due, Piece, SEGMENT_ROWS};
pub use gc::{Garbage, KeysInUse, folder_of};
pub use key::{key, store_folder};
pub use place::{Listed, Place, PlaceError, default_place};
pub use schema::file_schema;
pub use seal::{SealError, Sealer};
pub use straight::{NewRows, Placed};
pub use tree::{BadTree, HashTree, WrongBytes};
pub use write::{Encoded, SEGMENT_FORMAT, WriteError, encode};
