//! ABI types: parsing, spelling, and the sizes that decoding needs.

use std::fmt;

/// Arrays and tuples inside one another, at most. Bounds every recursion over a type.
pub const MAX_DEPTH: u8 = 16;
/// Bytes that one value may take in place, at most. No log of a real chain holds that much.
pub const MAX_INLINE: u32 = 1 << 20;

/// A type that takes one word and is not a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// `bool`
    Bool,
    /// `uint8` to `uint256`, width in bits.
    Uint(u16),
    /// `int8` to `int256`, width in bits.
    Int(u16),
    /// `address`
    Address,
    /// `bytes1` to `bytes32`
    FixedBytes(u8),
    /// `function`: an address and a selector, 24 bytes.
    Function,
}

/// What a type is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One word.
    Word(Word),
    /// `bytes`
    Bytes,
    /// `string`
    String,
    /// `T[]`
    Array(Box<Type>),
    /// `T[n]`, n at least 1.
    FixedArray(Box<Type>, u32),
    /// `(A,B,…)`, at least one field.
    Tuple(Vec<Field>),
}

/// One component of a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name as in the ABI, perhaps empty.
    pub name: String,
    /// Type.
    pub ty: Type,
}

/// A type with its sizes worked out. Nothing in it takes no room, so a length can be held against the bytes there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    kind: Kind,
    depth: u8,
    dynamic: bool,
    inline: u32,
    named: bool,
}

/// Why something is not a type that can be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError(pub String);

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn error<T>(message: impl Into<String>) -> Result<T, TypeError> {
    Err(TypeError(message.into()))
}

impl Type {
    /// A type of one word.
    pub fn word(word: Word) -> Self {
        Type { kind: Kind::Word(word), depth: 0, dynamic: false, inline: 32, named: false }
    }

    /// `bytes`
    pub fn bytes() -> Self {
        Type { kind: Kind::Bytes, depth: 0, dynamic: true, inline: 32, named: false }
    }

    /// `string`
    pub fn string() -> Self {
        Type { kind: Kind::String, ..Type::bytes() }
    }

    /// `element[]`
    pub fn array(element: Type) -> Result<Self, TypeError> {
        let depth = deeper(element.depth)?;
        Ok(Type { kind: Kind::Array(Box::new(element)), depth, dynamic: true, inline: 32, named: false })
    }

    /// `element[count]`
    pub fn fixed_array(element: Type, count: u32) -> Result<Self, TypeError> {
        if count == 0 {
            return error("an array of length 0 holds nothing and cannot be decoded");
        }
        let depth = deeper(element.depth)?;
        let inline = bounded(element.slot().checked_mul(count))?;
        let dynamic = element.dynamic;
        Ok(Type { kind: Kind::FixedArray(Box::new(element), count), depth, dynamic, inline, named: false })
    }

    /// `(fields…)`
    pub fn tuple(fields: Vec<Field>) -> Result<Self, TypeError> {
        if fields.is_empty() {
            return error("a tuple without components holds nothing and cannot be decoded");
        }
        let depth = deeper(fields.iter().map(|field| field.ty.depth).max().unwrap_or(0))?;
        let mut inline = 0;
        for field in &fields {
            inline = bounded(field.ty.slot().checked_add(inline))?;
        }
        let dynamic = fields.iter().any(|field| field.ty.dynamic);
        let named = fields.iter().enumerate().all(|(place, field)| {
            !field.name.is_empty() && fields[..place].iter().all(|before| before.name != field.name)
        });
        Ok(Type { kind: Kind::Tuple(fields), depth, dynamic, inline, named })
    }

    /// Reads a type as an ABI spells it. `fields` are the components where the base is `tuple`.
    pub fn parse(text: &str, fields: Option<Vec<Field>>) -> Result<Self, TypeError> {
        let (base, mut suffixes) = text.split_at(text.find('[').unwrap_or(text.len()));
        let mut ty = match (base, fields) {
            ("tuple", Some(fields)) => Type::tuple(fields)?,
            ("tuple", None) => return error("a tuple without components"),
            ("bytes", _) => Type::bytes(),
            ("string", _) => Type::string(),
            (base, _) => Type::word(parse_word(base)?),
        };
        while !suffixes.is_empty() {
            let Some((length, rest)) = suffixes.strip_prefix('[').and_then(|inner| inner.split_once(']')) else {
                return error(format!("'{}' is not an ABI type", short(text)));
            };
            ty = match length {
                "" => Type::array(ty)?,
                digits => match plain_number(digits) {
                    Some(count) => Type::fixed_array(ty, count)?,
                    None => return error(format!("'{}' has an array length that is no number", short(text))),
                },
            };
            suffixes = rest;
        }
        Ok(ty)
    }

    /// What it is made of.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether its place holds an offset to it instead of it.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// Bytes that it takes where it lies, tails not counted; for `T[]`, `bytes` and `string` the length alone.
    pub fn inline(&self) -> u32 {
        self.inline
    }

    /// Bytes that it takes in the head of what holds it.
    pub fn slot(&self) -> u32 {
        if self.dynamic { 32 } else { self.inline }
    }

    /// Whether it is a tuple whose components all have names of their own.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// Whether a `string` is anywhere in it.
    pub fn holds_string(&self) -> bool {
        match &self.kind {
            Kind::String => true,
            Kind::Word(_) | Kind::Bytes => false,
            Kind::Array(element) | Kind::FixedArray(element, _) => element.holds_string(),
            Kind::Tuple(fields) => fields.iter().any(|field| field.ty.holds_string()),
        }
    }
}

/// The canonical spelling, as in a signature.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Word(word) => word.fmt(f),
            Kind::Bytes => f.write_str("bytes"),
            Kind::String => f.write_str("string"),
            Kind::Array(element) => write!(f, "{element}[]"),
            Kind::FixedArray(element, count) => write!(f, "{element}[{count}]"),
            Kind::Tuple(fields) => {
                for (place, field) in fields.iter().enumerate() {
                    write!(f, "{}{}", if place == 0 { '(' } else { ',' }, field.ty)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Bool => f.write_str("bool"),
            Word::Uint(bits) => write!(f, "uint{bits}"),
            Word::Int(bits) => write!(f, "int{bits}"),
            Word::Address => f.write_str("address"),
            Word::FixedBytes(width) => write!(f, "bytes{width}"),
            Word::Function => f.write_str("function"),
        }
    }
}

fn deeper(depth: u8) -> Result<u8, TypeError> {
    if depth >= MAX_DEPTH {
        return error(format!("arrays and tuples inside one another more than {MAX_DEPTH} deep cannot be decoded"));
    }
    Ok(depth + 1)
}

fn bounded(inline: Option<u32>) -> Result<u32, TypeError> {
    match inline {
        Some(inline) if inline <= MAX_INLINE => Ok(inline),
        _ => error(format!("a value that takes more than {MAX_INLINE} bytes in place cannot be decoded")),
    }
}

/// Digits without sign or leading zero.
fn plain_number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !(digits.len() > 1 && digits.starts_with('0'));
    plain.then(|| digits.parse().ok()).flatten()
}

fn parse_word(text: &str) -> Result<Word, TypeError> {
    let bits = |digits: &str| plain_number(digits).filter(|n| (8..=256).contains(n) && n % 8 == 0).map(|n| n as u16);
    let word = match text {
        "bool" => Some(Word::Bool),
        "address" => Some(Word::Address),
        "function" => Some(Word::Function),
        "uint" => Some(Word::Uint(256)),
        "int" => Some(Word::Int(256)),
        "byte" => Some(Word::FixedBytes(1)),
        _ => {
            if text.starts_with("fixed") || text.starts_with("ufixed") {
                return error(format!("'{}' is a fixed-point type, which is not supported", short(text)));
            } else if let Some(digits) = text.strip_prefix("uint") {
                bits(digits).map(Word::Uint)
            } else if let Some(digits) = text.strip_prefix("int") {
                bits(digits).map(Word::Int)
            } else if let Some(digits) = text.strip_prefix("bytes") {
                plain_number(digits).filter(|n| (1..=32).contains(n)).map(|n| Word::FixedBytes(n as u8))
            } else {
                None
            }
        }
    };
    word.map_or_else(|| error(format!("'{}' is not an ABI type", short(text))), Ok)
}

fn short(text: &str) -> String {
    text.chars().take(60).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests;
