//! What components and calls may be and use.

use wasmtime::ResourceLimiter;

use super::budget::Budget;

/// Bounds on components and calls. Those that decide whether a call passes are part of the engine's fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginLimits {
    /// Calls that run at one time, over all nests.
    pub slots: u32,
    /// Bytes of linear memory of one call, all memories together.
    pub memory_bytes: usize,
    /// Table elements of one call, all tables together.
    pub table_elements: usize,
    /// Bytes of stack of one call.
    pub stack_bytes: usize,
    /// Bytes that one call may hand back.
    pub output_bytes: usize,
    /// Rows that one call may hand back, all tables together.
    pub output_rows: usize,
    /// Bytes of a rejection's detail.
    pub detail_bytes: usize,
    /// Bytes of a plan.
    pub plan_bytes: usize,
    /// The most that a nest may ask for.
    pub budget: Budget,
    /// Fuel of one `plan` call.
    pub plan_fuel: u64,
    /// Fuel of one `describe` call.
    pub describe_fuel: u64,
    /// Logs in one call.
    pub part_logs: usize,
    /// Bytes of logs in one call; a single log may have more.
    pub part_bytes: usize,
    /// Lines that one call may log.
    pub log_lines: usize,
    /// Bytes that one call may log.
    pub log_bytes: usize,
    /// Bytes of one logged line.
    pub log_line_bytes: usize,
    /// What a component may be.
    pub component: ComponentLimits,
}

/// Bounds on a component before it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentLimits {
    /// Bytes of the whole file.
    pub bytes: usize,
    /// Bytes of all core modules together.
    pub module_bytes: usize,
    /// Bytes of all function bodies together.
    pub code_bytes: usize,
    /// Functions with a body.
    pub functions: u32,
    /// Bytes of one function body.
    pub body_bytes: usize,
    /// Locals of one function.
    pub locals: u32,
    /// Parameters and results of one core function type.
    pub arity: usize,
    /// Over all function bodies, the sum of bytes × (locals + the largest arity of a type): what the compiler's time
    /// grows with in the worst case. 10^8 took nine seconds; ordinary guests stay below a tenth of it.
    pub weight: usize,
    /// Canonical functions: each lifted or lowered one is compiled code of its own.
    pub canonicals: u32,
    /// Bytes of data segments.
    pub data_bytes: usize,
    /// Core modules.
    pub modules: u32,
    /// Components, the outer one not counted.
    pub components: u32,
    /// How deep components lie in each other.
    pub depth: u32,
    /// Instances, core and component together.
    pub instances: u32,
    /// Tables.
    pub tables: u32,
    /// Bytes of component type sections: reading nested types recurses, so this bounds the stack that it takes.
    pub type_bytes: usize,
}

impl Default for PluginLimits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, |n| n.get() as u32);
        PluginLimits {
            slots: cores.clamp(2, 16),
            memory_bytes: 256 << 20,
            table_elements: 10_000,
            stack_bytes: 512 << 10,
            output_bytes: 64 << 20,
            output_rows: 500_000,
            detail_bytes: 1_024,
            plan_bytes: 4 << 20,
            budget: Budget::CAP,
            plan_fuel: 5_000_000_000,
            describe_fuel: 1_000_000_000,
            part_logs: 4_096,
            part_bytes: 2 << 20,
            log_lines: 64,
            log_bytes: 16 << 10,
            log_line_bytes: 1 << 10,
            component: ComponentLimits::default(),
        }
    }
}

impl Default for ComponentLimits {
    fn default() -> Self {
        ComponentLimits {
            bytes: 32 << 20,
            module_bytes: 8 << 20,
            code_bytes: 4 << 20,
            functions: 20_000,
            body_bytes: 256 << 10,
            locals: 2_000,
            arity: 100,
            weight: 100_000_000,
            canonicals: 64,
            data_bytes: 4 << 20,
            modules: 8,
            components: 8,
            depth: 3,
            instances: 32,
            tables: 4,
            type_bytes: 64 << 10,
        }
    }
}

impl PluginLimits {
    /// Bytes that name those limits which decide whether a call passes.
    pub(super) fn fingerprint(&self) -> Vec<u8> {
        let numbers = [
            self.memory_bytes as u64,
            self.table_elements as u64,
            self.stack_bytes as u64,
            self.output_bytes as u64,
            self.output_rows as u64,
            self.detail_bytes as u64,
            self.budget.base,
            self.budget.per_log,
            self.budget.per_byte,
        ];
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

/// A guest asked for more than it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LimitHit {
    /// Linear memory, in bytes.
    #[error("{asked} bytes of memory asked for, {cap} allowed")]
    Memory {
        /// Total asked for.
        asked: usize,
        /// Total allowed.
        cap: usize,
    },
    /// Tables, in elements.
    #[error("{asked} table elements asked for, {cap} allowed")]
    Table {
        /// Total asked for.
        asked: usize,
        /// Total allowed.
        cap: usize,
    },
}

/// The host had no memory for a growth that the limits allow.
#[derive(Debug, thiserror::Error)]
#[error("the system has no memory for the guest: {0}")]
pub(super) struct GrowFailed(pub String);

/// Sums memories and tables of one store. Says no with an error, so that the guest stops there and then, and does not
/// go on to trap over a null pointer somewhere else.
#[derive(Debug)]
pub(super) struct StoreLimiter {
    memory_cap: usize,
    memory_used: usize,
    table_cap: usize,
    table_used: usize,
}

impl StoreLimiter {
    pub(super) fn new(limits: &PluginLimits) -> Self {
        StoreLimiter {
            memory_cap: limits.memory_bytes,
            memory_used: 0,
            table_cap: limits.table_elements,
            table_used: 0,
        }
    }
}

/// The total after one part of it grew, or the total that is too much.
fn grown(used: usize, current: usize, desired: usize, maximum: Option<usize>, cap: usize) -> Result<usize, usize> {
    let total = used.saturating_sub(current).saturating_add(desired);
    let own = maximum.is_none_or(|maximum| desired <= maximum);
    if own && total <= cap { Ok(total) } else { Err(total) }
}

impl ResourceLimiter for StoreLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let cap = self.memory_cap.min(maximum.unwrap_or(usize::MAX));
        self.memory_used = grown(self.memory_used, current, desired, maximum, self.memory_cap)
            .map_err(|asked| LimitHit::Memory { asked, cap })?;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(GrowFailed(error.to_string()).into())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let cap = self.table_cap.min(maximum.unwrap_or(usize::MAX));
        self.table_used = grown(self.table_used, current, desired, maximum, self.table_cap)
            .map_err(|asked| LimitHit::Table { asked, cap })?;
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(GrowFailed(error.to_string()).into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn limiter() -> StoreLimiter {
        let limits = PluginLimits { memory_bytes: 1_000, table_elements: 10, ..PluginLimits::default() };
        StoreLimiter::new(&limits)
    }

    #[test]
    fn memories_count_together() {
        let mut limiter = limiter();
        assert!(limiter.memory_growing(0, 600, None).unwrap());
        assert!(limiter.memory_growing(0, 300, None).unwrap());
        assert!(limiter.memory_growing(300, 400, None).unwrap());
        let refused = limiter.memory_growing(600, 601, None).unwrap_err();
        assert_eq!(refused.downcast_ref(), Some(&LimitHit::Memory { asked: 1_001, cap: 1_000 }));
    }

    #[test]
    fn a_maximum_of_its_own_is_a_limit_too() {
        let refused = limiter().memory_growing(0, 20, Some(10)).unwrap_err();
        assert_eq!(refused.downcast_ref(), Some(&LimitHit::Memory { asked: 20, cap: 10 }));
        let refused = limiter().table_growing(0, 11, None).unwrap_err();
        assert_eq!(refused.downcast_ref(), Some(&LimitHit::Table { asked: 11, cap: 10 }));
    }

    #[test]
    fn tables_count_together() {
        let mut limiter = limiter();
        assert!(limiter.table_growing(0, 6, Some(100)).unwrap());
        assert!(limiter.table_growing(0, 5, Some(100)).is_err());
        assert!(limiter.table_growing(0, 4, Some(100)).unwrap());
    }
}
