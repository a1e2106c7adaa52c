//! fjall: rows under their ids, compacted, with a cache that holds all.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::Result;
use crate::record::{Catalog, Record};

pub struct Fjall {
    /// Open for as long as the keyspace is read.
    _database: Database,
    rows: Keyspace,
}

impl Fjall {
    pub fn build(folder: &Path, catalog: &Catalog) -> Result<()> {
        let database = Database::builder(folder.join("fjall")).open()?;
        let rows = database.keyspace("rows", KeyspaceCreateOptions::default)?;
        for row in catalog.rows() {
            let record = Record::decode(row).ok_or("a row does not decode")?;
            rows.insert(record.id, row)?;
        }
        rows.rotate_memtable_and_wait()?;
        rows.major_compact()?;
        Ok(database.persist(PersistMode::SyncAll)?)
    }

    pub fn open(folder: &Path) -> Result<Self> {
        let database = Database::builder(folder.join("fjall")).cache_size(4 << 30).open()?;
        let rows = database.keyspace("rows", KeyspaceCreateOptions::default)?;
        Ok(Self { _database: database, rows })
    }

    /// What `read` makes of the row of an id.
    pub fn get<T>(&self, id: &str, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        self.rows.get(id).expect("fjall answers").map(|row| read(&row))
    }
}
