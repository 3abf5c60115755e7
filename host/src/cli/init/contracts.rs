//! From addresses and ABI files to contract entries.

use nuthatch_registry::{Chain, ContractAddress};

use super::abi::{self, Abi};
use super::folder::NewContract;
use super::sourcify::Sourcify;
use super::start_block::{self, Deployment};
use super::{InitArgs, names};
use crate::chain::Source;
use crate::cli::Usage;
use crate::model::{Address, ChainId};

/// What was found out, and how.
pub struct Gathered {
    /// Contract entries.
    pub contracts: Vec<NewContract>,
    /// One line each for people: where ABI and start block come from.
    pub notes: Vec<String>,
}

/// An entry before its alias and start block are settled.
struct Draft {
    addresses: Vec<ContractAddress>,
    abis: Vec<Abi>,
    suggested: Option<String>,
    deployed_at: Option<u64>,
    origin: String,
}

/// ABI, alias and start block of each contract entry.
pub async fn gather(args: &InitArgs, chain: Chain, source: Option<&dyn Source>) -> anyhow::Result<Gathered> {
    let drafts = if args.abi.is_empty() { from_sourcify(args, chain).await? } else { from_files(args)? };
    if !args.alias.is_empty() && args.alias.len() != drafts.len() {
        return Err(Usage::error(format!(
            "there are {} contract entries and {} names at --alias; give one name for each",
            drafts.len(),
            args.alias.len()
        )));
    }
    let mut gathered = Gathered { contracts: Vec::new(), notes: Vec::new() };
    let mut taken: Vec<String> = Vec::new();
    for (place, draft) in drafts.into_iter().enumerate() {
        abi::require_events(&draft.abis, || draft.origin.clone())?;
        let alias = match args.alias.get(place) {
            Some(alias) if taken.contains(alias) => {
                return Err(Usage::error(format!(
                    "--alias {alias} is given twice; each entry needs a name of its own"
                )));
            }
            Some(alias) => alias.clone(),
            None => names::unique(draft.suggested.unwrap_or_else(|| "contract".to_owned()), &taken),
        };
        taken.push(alias.clone());
        let events = draft.abis.iter().map(|abi| abi.events().len()).sum::<usize>();
        let anonymous = draft.abis.iter().map(|abi| abi.anonymous_events().len()).sum::<usize>();
        gathered.notes.push(format!(
            "{alias}: {events} {}, ABI from {}",
            if events == 1 { "event" } else { "events" },
            draft.origin
        ));
        if anonymous > 0 && events > 0 {
            gathered.notes.push(format!("{alias}: {anonymous} anonymous left out; nest.toml shows how to take them"));
        }
        let (start_block, why) = start_block(args, &draft.addresses, draft.deployed_at, source).await?;
        gathered.notes.push(format!("{alias}: start block {start_block}, {why}"));
        gathered.contracts.push(NewContract { alias, addresses: draft.addresses, start_block, abis: draft.abis });
    }
    Ok(gathered)
}

fn from_files(args: &InitArgs) -> anyhow::Result<Vec<Draft>> {
    let draft = |addresses: Vec<ContractAddress>, files: &[std::path::PathBuf]| -> anyhow::Result<Draft> {
        Ok(Draft {
            addresses,
            abis: files.iter().map(|file| Abi::read(file)).collect::<Result<_, _>>()?,
            suggested: files.iter().find_map(|file| names::alias_of_file(file)),
            deployed_at: None,
            origin: files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" and "),
        })
    };
    match (args.addresses.as_slice(), args.abi.as_slice()) {
        ([_], files) => Ok(vec![draft(args.addresses.clone(), files)?]),
        (_, [_]) => Ok(vec![draft(args.addresses.clone(), &args.abi)?]),
        (addresses, files) if addresses.len() == files.len() => addresses
            .iter()
            .zip(files)
            .map(|(address, file)| draft(vec![*address], std::slice::from_ref(file)))
            .collect(),
        (addresses, files) => Err(Usage::error(format!(
            "there are {} addresses and {} ABI files; give one file for all addresses, or one for each in their order",
            addresses.len(),
            files.len()
        ))),
    }
}

async fn from_sourcify(args: &InitArgs, chain: Chain) -> anyhow::Result<Vec<Draft>> {
    let sourcify = Sourcify::from_environment()?;
    let mut drafts = Vec::new();
    for address in &args.addresses {
        let found = sourcify.contract(ChainId(chain.0), Address::from(address.0)).await?;
        let mut origin = match &found.name {
            Some(name) => format!("{} ({name})", sourcify.server()),
            None => sourcify.server(),
        };
        if !found.unverified_implementations.is_empty() {
            let list = found.unverified_implementations.iter().map(|one| one.to_checksum(None)).collect::<Vec<_>>();
            origin.push_str(&format!("; without the events of its unverified implementation {}", list.join(", ")));
        }
        drafts.push(Draft {
            addresses: vec![*address],
            suggested: found.name.as_deref().and_then(names::alias_of),
            abis: found.abis,
            deployed_at: found.deployed_at,
            origin,
        });
    }
    Ok(drafts)
}

/// The start block, and where it comes from.
async fn start_block(
    args: &InitArgs,
    addresses: &[ContractAddress],
    deployed_at: Option<u64>,
    source: Option<&dyn Source>,
) -> anyhow::Result<(u64, String)> {
    if let Some(block) = args.start_block {
        return Ok((block, "as given".to_owned()));
    }
    if let Some(block) = deployed_at {
        return Ok((block, "its deployment as Sourcify knows it".to_owned()));
    }
    let Some(source) = source else {
        return Ok((0, "because no --rpc is given to ask for its deployment".to_owned()));
    };
    let mut first = u64::MAX;
    for address in addresses {
        let address = Address::from(address.0);
        match start_block::find(source, address).await? {
            Deployment::At(block) => first = first.min(block.0),
            Deployment::Unknown(error) => {
                return Ok((0, format!("because the node does not tell its deployment ({error})")));
            }
            Deployment::NoCode { head } => anyhow::bail!(
                "{} has no code on chain {} at block {head}; check address and chain. If the contract destroyed itself, \
                 give --start-block",
                address.to_checksum(None),
                source.chain_id()
            ),
        }
    }
    Ok((first, "its deployment".to_owned()))
}
