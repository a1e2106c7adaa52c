//! redb: rows under their ids.

use std::path::Path;

use redb::{Database, ReadOnlyTable, ReadableDatabase as _, TableDefinition};

use crate::Result;
use crate::record::{Catalog, Record};

const ROWS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("rows");

pub struct Redb {
    /// Open for as long as the table is read.
    _database: Database,
    table: ReadOnlyTable<&'static str, &'static [u8]>,
}

impl Redb {
    pub fn build(folder: &Path, catalog: &Catalog) -> Result<()> {
        let database = Database::create(folder.join("redb"))?;
        let write = database.begin_write()?;
        {
            let mut table = write.open_table(ROWS)?;
            for row in catalog.rows() {
                let record = Record::decode(row).ok_or("a row does not decode")?;
                table.insert(record.id.as_str(), row)?;
            }
        }
        write.commit()?;
        Ok(())
    }

    pub fn open(folder: &Path) -> Result<Self> {
        let mut builder = Database::builder();
        builder.set_cache_size(4 << 30);
        let database = builder.open(folder.join("redb"))?;
        let table = database.begin_read()?.open_table(ROWS)?;
        Ok(Self { _database: database, table })
    }

    /// What `read` makes of the row of an id.
    pub fn get<T>(&self, id: &str, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        self.table.get(id).expect("redb answers").map(|row| read(row.value()))
    }
}
