//! ABI JSON as tools leave it: a plain list, or an artifact that holds one under `abi` or `compilerOutput.abi`.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::keccak::keccak;
use crate::types::{Field, MAX_DEPTH, Type, TypeError};

/// An event as its ABI declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Name.
    pub name: String,
    /// Whether its logs lack the signature's hash.
    pub anonymous: bool,
    /// Parameters in order.
    pub inputs: Vec<Input>,
}

/// One parameter of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Name, perhaps empty.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Whether it lies in a topic.
    pub indexed: bool,
}

/// An event that cannot be decoded, which matters only to those who want it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Name.
    pub name: String,
    /// Whether its logs lack the signature's hash.
    pub anonymous: bool,
    /// Why.
    pub reason: String,
}

impl Event {
    /// `Transfer(address,address,uint256)`
    pub fn signature(&self) -> String {
        let types: Vec<String> = self.inputs.iter().map(|input| input.ty.to_string()).collect();
        format!("{}({})", self.name, types.join(","))
    }

    /// Keccak-256 of the signature: the first topic of its logs, unless anonymous.
    pub fn topic0(&self) -> [u8; 32] {
        keccak(self.signature().as_bytes())
    }

    /// How many parameters lie in topics.
    pub fn indexed(&self) -> usize {
        self.inputs.iter().filter(|input| input.indexed).count()
    }
}

// Parts are kept raw until they are looked at: what lies between, such as the syntax trees in a compiler's artifact,
// is skipped without recursion.
#[derive(Deserialize)]
struct Artifact<'a> {
    #[serde(borrow)]
    abi: Option<&'a RawValue>,
    #[serde(borrow, rename = "compilerOutput")]
    compiler_output: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    ty: Option<String>,
}

#[derive(Deserialize)]
struct RawEvent<'a> {
    name: Option<String>,
    anonymous: Option<bool>,
    #[serde(borrow)]
    inputs: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawInput<'a> {
    name: Option<String>,
    #[serde(rename = "type")]
    ty: String,
    indexed: Option<bool>,
    #[serde(borrow)]
    components: Option<&'a RawValue>,
}

/// The events of an ABI, in order. The error says what is wrong with the JSON.
pub fn events(json: &str) -> Result<Vec<Result<Event, Broken>>, String> {
    let list = find_list(json, 0)?;
    let entries: Vec<&RawValue> = parse(list, "the ABI")?;
    let mut events = Vec::new();
    for (place, entry) in entries.into_iter().enumerate() {
        let head: Head = parse(entry.get(), &format!("entry {place} of the ABI"))?;
        if head.ty.as_deref() == Some("event") {
            let raw: RawEvent = parse(entry.get(), &format!("entry {place} of the ABI"))?;
            let Some(name) = raw.name.filter(|name| !name.is_empty()) else {
                return Err(format!("entry {place} of the ABI is an event without a name"));
            };
            events.push(event(&name, raw.anonymous, raw.inputs));
        }
    }
    Ok(events)
}

fn find_list(json: &str, depth: u8) -> Result<&str, String> {
    let json = json.trim_ascii_start();
    if json.starts_with('[') {
        return Ok(json);
    }
    let nowhere =
        || "an ABI is a JSON list, or an object that holds one under `abi` or `compilerOutput.abi`".to_owned();
    if !json.starts_with('{') || depth > 1 {
        return Err(nowhere());
    }
    let artifact: Artifact = parse(json, "the artifact")?;
    match (artifact.abi, artifact.compiler_output) {
        (Some(abi), _) if abi.get().starts_with('[') => Ok(abi.get()),
        (None, Some(output)) => find_list(output.get(), depth + 1),
        _ => Err(nowhere()),
    }
}

fn event(name: &str, anonymous: Option<bool>, inputs: Option<&RawValue>) -> Result<Event, Broken> {
    let anonymous = anonymous.unwrap_or(false);
    let broken = |reason: String| Broken { name: name.to_owned(), anonymous, reason };
    let inputs = match inputs {
        Some(inputs) => parse::<Vec<RawInput>>(inputs.get(), "its list of parameters").map_err(broken)?,
        None => Vec::new(),
    };
    let mut parsed = Vec::new();
    for (place, input) in inputs.into_iter().enumerate() {
        let name = input.name.unwrap_or_default();
        let ty = parse_type(&input.ty, input.components, 0)
            .map_err(|reason| broken(format!("parameter {place} ('{}'): {reason}", name.escape_debug())))?;
        parsed.push(Input { name, ty, indexed: input.indexed.unwrap_or(false) });
    }
    let event = Event { name: name.to_owned(), anonymous, inputs: parsed };
    let most = if event.anonymous { 4 } else { 3 };
    if event.indexed() > most {
        return Err(broken(format!("{} parameters are indexed, and a log has room for {most}", event.indexed())));
    }
    Ok(event)
}

fn parse_type(text: &str, components: Option<&RawValue>, depth: u8) -> Result<Type, TypeError> {
    let fields = match components {
        Some(components) if text.starts_with("tuple") => {
            if depth > MAX_DEPTH {
                return Err(TypeError("its tuples are nested too deep".to_owned()));
            }
            let inputs: Vec<RawInput> = parse(components.get(), "its components").map_err(TypeError)?;
            let mut fields = Vec::new();
            for input in inputs {
                let ty = parse_type(&input.ty, input.components, depth + 1)?;
                fields.push(Field { name: input.name.unwrap_or_default(), ty });
            }
            Some(fields)
        }
        _ => None,
    };
    Type::parse(text, fields)
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str, what: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const TRANSFER: &str = r#"{"type":"event","name":"Transfer","inputs":[
        {"name":"from","type":"address","indexed":true},{"name":"to","type":"address","indexed":true},
        {"name":"value","type":"uint","internalType":"uint256"}]}"#;

    #[test]
    fn every_wrapping_gives_the_same_events() {
        let list = format!(r#"[{{"inputs":[],"stateMutability":"x"}}, {TRANSFER}, {{"type":"function","inputs":7}}]"#);
        let plain = events(&list).unwrap();
        assert_eq!(plain.len(), 1);
        let event = plain[0].clone().unwrap();
        assert_eq!(event.signature(), "Transfer(address,address,uint256)");
        assert!(!event.anonymous);
        assert_eq!(event.topic0()[..4], [0xdd, 0xf2, 0x52, 0xad]);
        for wrapped in [
            format!(r#" {{"ast":{}1{},"abi": {list}}}"#, "[".repeat(500), "]".repeat(500)),
            format!(r#"{{"compilerOutput":{{"evm":{{}},"abi":{list}}}}}"#),
        ] {
            assert_eq!(events(&wrapped).unwrap(), plain);
        }
    }

    #[test]
    fn what_holds_no_list_is_refused() {
        for json in [
            "",
            "7",
            "\"[]\"",
            "{}",
            r#"{"abi":{}}"#,
            r#"{"abi":null}"#,
            "[1]",
            "[",
            r#"[{"type":"event"}]"#,
            r#"[{"type":"event","name":""}]"#,
            r#"{"compilerOutput":{"compilerOutput":{"abi":[]}}}"#,
        ] {
            assert!(events(json).is_err(), "{json}");
        }
    }

    #[test]
    fn an_event_that_cannot_be_decoded_spoils_only_itself() {
        let four = r#"{"name":"","type":"bool","indexed":true},"#.repeat(4);
        let json = format!(
            r#"[{{"type":"event","name":"A","inputs":[{{"name":"p","type":"ufixed8x1"}}]}},
                {{"type":"event","name":"B","inputs":[{}]}},
                {{"type":"event","name":"C","anonymous":true,"inputs":[{}]}},
                {{"type":"event","name":"D","inputs":[{{"name":"p"}}]}}, {TRANSFER}]"#,
            &four[..four.len() - 1],
            &four[..four.len() - 1],
        );
        let found = events(&json).unwrap();
        let broken = |place: usize| found[place].clone().unwrap_err();
        assert_eq!(broken(0).name, "A");
        assert!(broken(0).reason.contains("parameter 0 ('p')"), "{}", broken(0).reason);
        assert!(broken(1).reason.contains("room for 3"), "{}", broken(1).reason);
        assert!(found[2].is_ok() && found[4].is_ok());
        assert!(broken(3).reason.contains("parameters"), "{}", broken(3).reason);
    }

    #[test]
    fn nested_components_are_bounded() {
        let nested = |levels: usize| {
            let open = r#"{"name":"x","type":"tuple","components":["#.repeat(levels);
            let inner = r#"{"name":"x","type":"bool"}"#;
            format!(r#"[{{"type":"event","name":"E","inputs":[{open}{inner}{}]}}]"#, "]}".repeat(levels))
        };
        assert!(events(&nested(16)).unwrap()[0].is_ok());
        assert!(events(&nested(17)).unwrap()[0].is_err());
        assert!(events(&nested(50_000)).unwrap()[0].is_err());
    }
}
