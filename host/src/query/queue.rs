//! How many queries run, and how many wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::QueryError;
use super::limits::QueryLimits;

/// A bounded queue before a bounded number of running queries.
#[derive(Debug)]
pub struct Queue {
    running: usize,
    waiting: usize,
    places: Arc<Semaphore>,
    /// Queries in the queue or running.
    inside: Arc<AtomicUsize>,
}

/// A place among the running queries; free again when dropped.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
    _inside: Inside,
}

#[derive(Debug)]
struct Inside(Arc<AtomicUsize>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Queue {
    /// A queue with these limits.
    pub fn new(limits: &QueryLimits) -> Self {
        Queue {
            running: limits.running,
            waiting: limits.waiting,
            places: Arc::new(Semaphore::new(limits.running)),
            inside: Arc::default(),
        }
    }

    /// Waits for a place, unless too many wait already.
    pub async fn enter(&self) -> Result<Place, QueryError> {
        let before = self.inside.fetch_add(1, Ordering::Relaxed);
        let inside = Inside(Arc::clone(&self.inside));
        if before >= self.running.saturating_add(self.waiting) {
            return Err(QueryError::Busy { running: self.running, waiting: self.waiting });
        }
        match Arc::clone(&self.places).acquire_owned().await {
            Ok(permit) => Ok(Place { _permit: permit, _inside: inside }),
            Err(_) => Err(QueryError::Internal("the queue of queries was closed".to_owned())),
        }
    }
}
