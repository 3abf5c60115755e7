//! Guests written as text.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The guest interface.
pub const NEST_WIT: &str = include_str!("../../../schemas/wit/v1/nest.wit");

/// A core module of a guest, in pieces that a test can replace. As it is, it ignores every log.
///
/// Memory: a decode's result is built at 1024, the list of ignored logs is allocated.
#[derive(Clone, Debug)]
pub struct Core {
    /// The memory, exported.
    pub memory: String,
    /// Fields beside the functions.
    pub extra: String,
    /// Locals and body of `cabi_realloc`; parameters `$old $old_size $align $size`.
    pub realloc: String,
    /// Locals and body of `decode`; parameter `$args`: plan pointer and length, then the batch.
    pub decode: String,
    /// Body of `decode`'s post-return, if it has one; parameter `$result`.
    pub post_decode: Option<String>,
    /// Leaves this export out.
    pub without: Option<&'static str>,
}

/// A bump allocator that grows memory as needed.
const REALLOC: &str = "
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
    (global.set $heap (i32.add (local.get $at) (local.get $size)))
    (block $enough
      (loop $grow
        (br_if $enough (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
        (br_if $grow (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))
        unreachable))
    (local.get $at)";

/// Ignores every log: `len` stands at 16 of the arguments.
const IGNORE_ALL: &str = "
    (local $len i32) (local $list i32) (local $log i32)
    (local.set $len (i32.load offset=16 (local.get $args)))
    (local.set $list (call $realloc (i32.const 0) (i32.const 0) (i32.const 4)
      (i32.mul (local.get $len) (i32.const 4))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $log) (local.get $len)))
        (i32.store (i32.add (local.get $list) (i32.mul (local.get $log) (i32.const 4))) (local.get $log))
        (local.set $log (i32.add (local.get $log) (i32.const 1)))
        (br $next)))
    (i32.store8 (i32.const 1024) (i32.const 0))
    (i64.store (i32.const 1028) (i64.const 0))
    (i64.store (i32.const 1036) (i64.const 0))
    (i32.store (i32.const 1044) (local.get $list))
    (i32.store (i32.const 1048) (local.get $len))
    (i32.const 1024)";

impl Default for Core {
    fn default() -> Self {
        Core {
            memory: "(memory (export \"memory\") 2)".into(),
            extra: String::new(),
            realloc: REALLOC.into(),
            decode: IGNORE_ALL.into(),
            post_decode: None,
            without: None,
        }
    }
}

impl Core {
    /// The module's text.
    pub fn text(&self) -> String {
        let export = |name: &str| match self.without {
            Some(without) if without == name => String::new(),
            _ => format!("(export \"{name}\")"),
        };
        let post = self.post_decode.as_ref().map_or_else(String::new, |body| {
            format!("(func (export \"cabi_post_decode\") (param $result i32) {body})")
        });
        format!(
            "(module
              {memory}
              (global $heap (mut i32) (i32.const 8192))
              (func $realloc (export \"cabi_realloc\")
                (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32) {realloc})
              (func {plan} (param $at i32) (param $len i32) (result i32)
                (i32.store8 (i32.const 1024) (i32.const 0))
                (i32.store (i32.const 1028) (local.get $at))
                (i32.store (i32.const 1032) (local.get $len))
                (i32.const 1024))
              (func {describe} (param $at i32) (param $len i32) (result i32)
                (i32.store8 (i32.const 1024) (i32.const 0))
                (i64.store (i32.const 1028) (i64.const 0))
                (i64.store (i32.const 1036) (i64.const 0))
                (i32.const 1024))
              (func {decode} (param $args i32) (result i32) {body})
              {post}
              {extra})",
            memory = self.memory,
            realloc = self.realloc,
            plan = export("plan"),
            describe = export("describe"),
            decode = export("decode"),
            body = self.decode,
            extra = self.extra,
        )
    }

    /// The guest as a component of the world in [`NEST_WIT`].
    pub fn component(&self) -> Vec<u8> {
        component(NEST_WIT, &self.text())
    }
}

/// A component of world `decoder` in `wit`, from a core module's text.
pub fn component(wit: &str, core: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("nest.wit", wit).expect("the WIT parses");
    let world = resolve.select_world(&[package], Some("decoder")).expect("the world is there");
    let mut module = wat::parse_str(core).unwrap_or_else(|error| panic!("{error}"));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata is embedded");
    let encoder = ComponentEncoder::default().module(&module).expect("the module fits the world");
    encoder.validate(false).encode().expect("the component is encoded")
}

/// A component that exports something under the three names of the world, and holds `parts` beside it. For what has to
/// be refused before the exports' types are looked at.
pub fn wat_component(parts: &str) -> Vec<u8> {
    let text = format!(
        "(component
          (core module $nothing (func (export \"f\")))
          (core instance $nothing (instantiate $nothing))
          (func $f (canon lift (core func $nothing \"f\")))
          (export \"plan\" (func $f))
          (export \"describe\" (func $f))
          (export \"decode\" (func $f))
          {parts})"
    );
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"))
}
