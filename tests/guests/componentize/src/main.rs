//! `componentize MODULE COMPONENT`: reads a core module, writes a component.

use anyhow::{Context, Result, bail};
use wit_component::ComponentEncoder;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, component] = arguments.as_slice() else { bail!("usage: componentize MODULE COMPONENT") };
    let bytes = std::fs::read(module).with_context(|| format!("{module} cannot be read"))?;
    let encoded = ComponentEncoder::default().validate(true).module(&bytes)?.encode()?;
    std::fs::write(component, encoded).with_context(|| format!("{component} cannot be written"))
}
