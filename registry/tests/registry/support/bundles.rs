//! Small bundles of one nest, each a little different.

use nuthatch_registry::{
    Bundle, BundleBuilder, CheckedBundle, ColumnSchema, ColumnType, ContractAddress, FilePath, Manifest, NestToml,
    TableSchema, VerifiedBytes,
};

/// A component that does nothing.
const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

/// What a bundle is made from.
#[derive(Clone)]
pub struct Recipe {
    pub name: String,
    pub version: String,
    pub chain: String,
    pub columns: Vec<(&'static str, bool)>,
    pub address: u8,
    pub readme: String,
}

/// `usdc` of this version.
pub fn usdc(version: &str) -> Recipe {
    Recipe {
        name: "usdc".to_owned(),
        version: version.to_owned(),
        chain: "mainnet".to_owned(),
        columns: vec![("value", false)],
        address: 1,
        readme: "A nest.".to_owned(),
    }
}

impl Recipe {
    pub fn columns(mut self, columns: &[(&'static str, bool)]) -> Self {
        self.columns = columns.to_vec();
        self
    }

    pub fn readme(mut self, text: &str) -> Self {
        self.readme = text.to_owned();
        self
    }

    pub fn chain(mut self, chain: &str) -> Self {
        self.chain = chain.to_owned();
        self
    }

    pub fn address(mut self, last: u8) -> Self {
        self.address = last;
        self
    }

    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    fn manifest(&self) -> Manifest {
        let Recipe { name, version, chain, address, .. } = self;
        let mut bytes = [0x11; 20];
        bytes[19] = *address;
        let address = ContractAddress(bytes);
        let toml = format!(
            "[nest]\nname = \"{name}\"\nversion = \"{version}\"\nchain = \"{chain}\"\n[[contracts]]\nalias = \"usdc\"\n\
             address = \"{address}\"\nstart_block = 5\nabi = \"abi.json\"\n"
        );
        let columns = self.columns.iter().map(|(name, nullable)| ColumnSchema {
            name: (*name).to_owned(),
            ty: ColumnType::Uint(256),
            nullable: *nullable,
            doc: String::new(),
        });
        let table = TableSchema { name: "usdc__transfer".to_owned(), columns: columns.collect(), doc: String::new() };
        NestToml::parse(&toml, "nest.toml").unwrap().manifest(vec![table], vec![])
    }

    pub fn bytes(&self) -> Vec<u8> {
        let path = |text: &str| text.parse::<FilePath>().unwrap();
        BundleBuilder::new(EMPTY.to_vec(), self.manifest(), b"the plan".to_vec())
            .file(path("abi.json"), b"[]".to_vec())
            .file(path("README.md"), self.readme.clone().into_bytes())
            .build()
            .unwrap()
    }

    pub fn bundle(&self) -> Bundle {
        Bundle::parse(&self.bytes()).unwrap()
    }

    pub fn checked(&self) -> CheckedBundle {
        CheckedBundle::vouched(self.bundle()).unwrap()
    }

    pub fn verified(&self) -> VerifiedBytes {
        VerifiedBytes::of(self.bytes())
    }
}
