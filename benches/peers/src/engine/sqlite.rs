//! SQLite with FTS5: one row a skill, a full-text index without a second copy of the texts, statements prepared once.

use std::path::Path;

use rusqlite::{Connection, Statement, params};

use crate::Result;
use crate::full_text::each_term;
use crate::questions::sees;
use crate::record::Catalog;
use crate::synthetic::GROUPS;

pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub fn build(folder: &Path, catalog: &Catalog) -> Result<()> {
        let mut connection = Connection::open(folder.join("sqlite"))?;
        connection.execute_batch(
            "pragma journal_mode = wal; pragma synchronous = off;
             create table skill(number integer primary key, id text unique not null, grp integer, kind integer,
                                name text, version text, description text, tags text, aliases text, examples text,
                                content text, flow text);
             create virtual table words using fts5(head, body, content='', detail='column', columnsize=1);",
        )?;
        let write = connection.transaction()?;
        {
            let mut skill = write.prepare("insert into skill values(?,?,?,?,?,?,?,?,?,?,?,?)")?;
            let mut words = write.prepare("insert into words(rowid, head, body) values(?,?,?)")?;
            for (number, record) in catalog.records().enumerate() {
                let number = number as i64;
                let lists = [&record.tags, &record.aliases, &record.examples].map(|list| list.join("\n"));
                skill.execute(params![
                    number,
                    record.id,
                    record.group,
                    record.kind,
                    record.name,
                    record.version,
                    record.description,
                    lists[0],
                    lists[1],
                    lists[2],
                    record.content,
                    record.flow
                ])?;
                let head = [&record.name, &record.description, &lists[0], &lists[1], &lists[2]];
                let head: Vec<String> = head.iter().map(|text| spaced(text)).collect();
                words.execute(params![number, head.join(" "), spaced(&record.content)])?;
            }
        }
        write.commit()?;
        connection.execute_batch(
            "insert into words(words, rank) values('rank', 'bm25(4.0, 1.0)');
             insert into words(words) values('optimize'); pragma wal_checkpoint(truncate); vacuum;
             pragma journal_mode = delete; pragma journal_mode = wal;",
        )?;
        Ok(())
    }

    pub fn open(folder: &Path) -> Result<Self> {
        let connection = Connection::open(folder.join("sqlite"))?;
        connection.execute_batch("pragma mmap_size = 34359738368; pragma cache_size = -262144;")?;
        Ok(Self { connection })
    }

    pub fn by_id(&self) -> Result<ById<'_>> {
        Ok(ById(self.connection.prepare("select grp, kind, name, version from skill where id = ?")?))
    }

    /// Full text over everything, or over what the caller may see.
    pub fn search(&self, filtered: bool) -> Result<Search<'_>> {
        let groups: Vec<String> =
            (0..GROUPS).filter(|group| sees(*group)).map(|group| group.to_string()).collect();
        let text = if filtered {
            format!(
                "select skill.number from words join skill on skill.number = words.rowid
                 where words match ? and skill.grp in ({}) order by rank limit 10",
                groups.join(",")
            )
        } else {
            "select rowid from words where words match ? order by rank limit 10".to_owned()
        };
        Ok(Search { statement: self.connection.prepare(&text)?, query: String::new() })
    }
}

/// A prepared look-up by id.
pub struct ById<'c>(Statement<'c>);

impl ById<'_> {
    /// Group, and what "touching the record" reads.
    pub fn get(&mut self, id: &str) -> Option<(u8, u64)> {
        let mut rows = self.0.query([id]).expect("SQLite answers");
        let row = rows.next().expect("SQLite answers")?;
        let length = |column| row.get_ref(column).and_then(|v| Ok(v.as_str()?.len() as u64)).unwrap_or(0);
        let kind: u8 = row.get(1).expect("a number");
        Some((row.get(0).expect("a number"), u64::from(kind) + length(2) + length(3)))
    }
}

/// A prepared search.
pub struct Search<'c> {
    statement: Statement<'c>,
    query: String,
}

impl Search<'_> {
    /// Sum of the numbers of the ten best.
    pub fn run(&mut self, request: &str) -> u64 {
        self.query.clear();
        let query = &mut self.query;
        each_term(request, &mut |term| {
            if !query.is_empty() {
                query.push_str(" OR ");
            }
            query.push('"');
            query.push_str(term);
            query.push('"');
        });
        let mut rows = self.statement.query([&self.query]).expect("SQLite answers");
        let mut sum = 0;
        while let Some(row) = rows.next().expect("SQLite answers") {
            sum += row.get::<_, i64>(0).expect("a number") as u64;
        }
        sum
    }
}

/// A text with its terms apart, so that the built-in tokeniser finds the same ones.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    each_term(text, &mut |term| {
        out.push_str(term);
        out.push(' ');
    });
    out
}
