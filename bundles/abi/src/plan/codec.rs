//! The plan as bytes: a version, then its parts in order. Numbers are LEB128, texts and lists carry their length. Reading
//! trusts nothing: what comes back would have been accepted when it was built.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{COMPANION, Contract, Form, Owners, Param, Plan};
use crate::naming::MAX_NAME;
use crate::types::{Field, Kind, MAX_DEPTH, Type, Word};

const MAGIC: &[u8; 4] = b"nhp\x02";
/// Characters of a name as the ABI spells it, at most.
pub(super) const MAX_ABI_NAME: usize = 256;
/// Parameters of an event, at most.
pub(super) const MAX_PARAMS: usize = 256;
/// Tables of a nest, at most.
pub(super) const MAX_TABLES: usize = 4096;

/// Bytes that are not a plan of this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlan(pub &'static str);

impl<'p> Plan<'p> {
    /// As bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        number(&mut out, self.owners.0.len() as u64);
        out.extend(self.owners.0.iter().flatten());
        number(&mut out, self.contracts.len() as u64);
        for contract in &self.contracts {
            text(&mut out, &contract.alias);
            number(&mut out, contract.start_block);
            out.push(u8::from(contract.narrowed));
            number(&mut out, contract.forms.len() as u64);
            contract.forms.iter().for_each(|form| write_form(&mut out, form));
        }
        out
    }

    /// From bytes. Every part is sound by itself; [`Plan::check`] sees whether they go together.
    pub fn read(bytes: &'p [u8]) -> Result<Self, BadPlan> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BadPlan("it does not begin as a plan of version 2"))?;
        let mut reader = Reader { rest };
        let owners = usize::try_from(reader.number()?).ok().and_then(|count| count.checked_mul(24)).ok_or(SHORT)?;
        let (owners, _) = reader.bytes(owners)?.as_chunks();
        let owners = Owners(Cow::Borrowed(owners));
        let contracts = reader.list(read_contract)?;
        if !reader.rest.is_empty() {
            return Err(BadPlan("bytes are left after its end"));
        }
        Ok(Plan { contracts, owners })
    }

    /// Whether the plan could have been built: what its parts must be to each other. A batch is decoded without this;
    /// what it would get from a plan that fails is no harm to the host. Returns the addresses of each contract.
    pub fn check(&self) -> Result<Vec<Vec<[u8; 20]>>, BadPlan> {
        if !self.owners.in_order() || self.owners.twice().is_some() {
            return Err(BadPlan("its addresses are not in order, or one is listed twice"));
        }
        let addresses = self.owners.by_contract(self.contracts.len());
        let addresses = addresses.ok_or(BadPlan("an address belongs to no contract"))?;
        let mut tables = HashSet::new();
        if !self.contracts.iter().flat_map(|contract| &contract.forms).all(|form| tables.insert(&form.table)) {
            return Err(BadPlan("a table is named twice"));
        }
        if tables.len() > MAX_TABLES {
            return Err(BadPlan("it has too many tables"));
        }
        for (contract, addresses) in self.contracts.iter().zip(&addresses) {
            let mut forms = HashSet::new();
            if addresses.is_empty() || contract.forms.is_empty() {
                return Err(BadPlan("a contract has no address or no event"));
            }
            let regular = contract.forms.iter().filter(|form| form.topic0.is_some());
            if !regular.map(|form| (form.topic0, form.indexed())).all(|form| forms.insert(form)) {
                return Err(BadPlan("two events of a contract cannot be told apart"));
            }
            contract.forms.iter().try_for_each(check_columns)?;
        }
        Ok(addresses)
    }
}

fn check_columns(form: &Form<'_>) -> Result<(), BadPlan> {
    let mut columns = HashSet::new();
    let good = |param: &Param<'_>| columns.insert(param.column.to_string()) && !param.column.ends_with(COMPANION);
    match form.params.iter().all(good) {
        true => Ok(()),
        false => Err(BadPlan("an event has two columns of one name")),
    }
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn text(out: &mut Vec<u8>, value: &str) {
    number(out, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

fn write_form(out: &mut Vec<u8>, form: &Form<'_>) {
    text(out, &form.table);
    text(out, &form.event);
    match &form.topic0 {
        None => out.push(0),
        Some(topic0) => {
            out.push(1);
            out.extend_from_slice(topic0);
        }
    }
    number(out, form.params.len() as u64);
    for param in &form.params {
        text(out, &param.column);
        text(out, &param.name);
        out.push(u8::from(param.indexed));
        write_type(out, &param.ty);
    }
}

fn write_type(out: &mut Vec<u8>, ty: &Type) {
    match ty.kind() {
        Kind::Word(Word::Bool) => out.push(0),
        Kind::Word(Word::Uint(bits)) => out.extend([1, (bits / 8) as u8]),
        Kind::Word(Word::Int(bits)) => out.extend([2, (bits / 8) as u8]),
        Kind::Word(Word::Address) => out.push(3),
        Kind::Word(Word::FixedBytes(width)) => out.extend([4, *width]),
        Kind::Word(Word::Function) => out.push(5),
        Kind::Bytes => out.push(6),
        Kind::String => out.push(7),
        Kind::Array(element) => {
            out.push(8);
            write_type(out, element);
        }
        Kind::FixedArray(element, count) => {
            out.push(9);
            number(out, u64::from(*count));
            write_type(out, element);
        }
        Kind::Tuple(fields) => {
            out.push(10);
            number(out, fields.len() as u64);
            for field in fields {
                text(out, &field.name);
                write_type(out, &field.ty);
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

const SHORT: BadPlan = BadPlan("it ends too early");

impl<'a> Reader<'a> {
    fn bytes(&mut self, len: usize) -> Result<&'a [u8], BadPlan> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(SHORT)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadPlan> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(SHORT)?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn byte(&mut self) -> Result<u8, BadPlan> {
        self.array().map(|[byte]| byte)
    }

    fn flag(&mut self) -> Result<bool, BadPlan> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(BadPlan("a flag is neither 0 nor 1")),
        }
    }

    /// In the shortest form only, so that a plan has one spelling.
    fn number(&mut self) -> Result<u64, BadPlan> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if (shift == 63 && part > 1) || (byte == 0 && shift > 0) {
                break;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(BadPlan("a number is not in its shortest form"))
    }

    fn text(&mut self) -> Result<Cow<'a, str>, BadPlan> {
        let len = usize::try_from(self.number()?).map_err(|_| SHORT)?;
        if len > MAX_ABI_NAME {
            return Err(BadPlan("a name is too long"));
        }
        let text = std::str::from_utf8(self.bytes(len)?).map_err(|_| BadPlan("a name is not UTF-8"))?;
        Ok(Cow::Borrowed(text))
    }

    /// A name of at most `max` characters that SQL takes bare.
    fn sql_name(&mut self, max: usize) -> Result<Cow<'a, str>, BadPlan> {
        let name = self.text()?;
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let digit = name.starts_with(|first: char| first.is_ascii_digit());
        if name.is_empty() || name.len() > max || digit || !name.bytes().all(plain) {
            return Err(BadPlan("a table, column or alias is not a plain SQL name"));
        }
        Ok(name)
    }

    /// Takes no room ahead: a length that lies runs into the end.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, BadPlan>) -> Result<Vec<T>, BadPlan> {
        let len = self.number()?;
        let mut list = Vec::new();
        for _ in 0..len {
            list.push(item(self)?);
        }
        Ok(list)
    }
}

fn read_contract<'a>(reader: &mut Reader<'a>) -> Result<Contract<'a>, BadPlan> {
    Ok(Contract {
        alias: reader.sql_name(MAX_NAME)?,
        start_block: reader.number()?,
        narrowed: reader.flag()?,
        forms: reader.list(read_form)?,
    })
}

fn read_form<'a>(reader: &mut Reader<'a>) -> Result<Form<'a>, BadPlan> {
    let table = reader.sql_name(2 * MAX_NAME + 2)?;
    let event = reader.text()?;
    let topic0 = if reader.flag()? { Some(reader.array()?) } else { None };
    let params = reader.list(read_param)?;
    let form = Form { table, event, topic0, params };
    if form.params.len() > MAX_PARAMS {
        return Err(BadPlan("an event has too many parameters"));
    }
    if form.indexed() > if form.topic0.is_some() { 3 } else { 4 } {
        return Err(BadPlan("an event has more indexed parameters than a log has topics"));
    }
    Ok(form)
}

fn read_param<'a>(reader: &mut Reader<'a>) -> Result<Param<'a>, BadPlan> {
    Ok(Param {
        column: reader.sql_name(MAX_NAME)?,
        name: reader.text()?,
        indexed: reader.flag()?,
        ty: read_type(reader, 0)?,
    })
}

fn read_type(reader: &mut Reader<'_>, depth: u8) -> Result<Type, BadPlan> {
    if depth > MAX_DEPTH {
        return Err(BadPlan("a type is nested too deep"));
    }
    let bits = |eighth: u8| match eighth {
        1..=32 => Ok(u16::from(eighth) * 8),
        _ => Err(BadPlan("an integer has no such width")),
    };
    let ty = match reader.byte()? {
        0 => Ok(Type::word(Word::Bool)),
        1 => Ok(Type::word(Word::Uint(bits(reader.byte()?)?))),
        2 => Ok(Type::word(Word::Int(bits(reader.byte()?)?))),
        3 => Ok(Type::word(Word::Address)),
        4 => match reader.byte()? {
            width @ 1..=32 => Ok(Type::word(Word::FixedBytes(width))),
            _ => return Err(BadPlan("fixed bytes have no such width")),
        },
        5 => Ok(Type::word(Word::Function)),
        6 => Ok(Type::bytes()),
        7 => Ok(Type::string()),
        8 => Type::array(read_type(reader, depth + 1)?),
        9 => {
            let count = u32::try_from(reader.number()?).map_err(|_| BadPlan("an array is too long"))?;
            Type::fixed_array(read_type(reader, depth + 1)?, count)
        }
        10 => Type::tuple(
            reader.list(|reader| Ok(Field { name: reader.text()?.into_owned(), ty: read_type(reader, depth + 1)? }))?,
        ),
        _ => return Err(BadPlan("it holds a type that does not exist")),
    };
    ty.map_err(|_| BadPlan("a type is too large or too deep"))
}

#[cfg(test)]
mod tests;
