//! LMDB through heed: rows under their ids, read in place from the map.

use std::path::Path;

use heed::types::{Bytes, Str};
use heed::{Database, Env, EnvOpenOptions, RoTxn, WithoutTls};

use crate::Result;
use crate::record::Catalog;

pub struct Lmdb {
    env: Env<WithoutTls>,
    rows: Database<Str, Bytes>,
}

impl Lmdb {
    pub fn build(folder: &Path, catalog: &Catalog) -> Result<()> {
        let env = open(folder)?;
        let mut write = env.write_txn()?;
        let rows: Database<Str, Bytes> = env.create_database(&mut write, None)?;
        // In the order of the keys, which fills pages best.
        let mut all: Vec<(String, &[u8])> = catalog
            .rows()
            .filter_map(|row| crate::record::Record::decode(row).map(|record| (record.id, row)))
            .collect();
        all.sort_unstable();
        for (id, row) in all {
            rows.put(&mut write, &id, row)?;
        }
        write.commit()?;
        Ok(())
    }

    pub fn open(folder: &Path) -> Result<Self> {
        let env = open(folder)?;
        let read = env.read_txn()?;
        let rows = env.open_database(&read, None)?.ok_or("LMDB: no database")?;
        drop(read);
        Ok(Self { env, rows })
    }

    /// A look at the state of this moment.
    pub fn read(&self) -> Result<RoTxn<'_, WithoutTls>> {
        Ok(self.env.read_txn()?)
    }

    pub fn get<'t>(&self, read: &'t RoTxn<'_, WithoutTls>, id: &str) -> Option<&'t [u8]> {
        self.rows.get(read, id).expect("LMDB answers")
    }
}

fn open(folder: &Path) -> Result<Env<WithoutTls>> {
    let options = EnvOpenOptions::new();
    let mut options = options.read_txn_without_tls();
    options.map_size(64 << 30);
    // SAFETY: nobody but this program opens the folder, and it opens it once a process.
    Ok(unsafe { options.open(folder)? })
}
