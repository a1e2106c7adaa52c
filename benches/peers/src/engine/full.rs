//! tantivy: names and lists in one field, bodies in another, one segment, the group as a column and as terms.

use std::path::Path;

use tantivy::collector::{Collector, FilterCollector, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery, TermSetQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, IndexWriter, TantivyDocument, Term};

use crate::Result;
use crate::full_text::each_term;
use crate::questions::sees;
use crate::record::{Catalog, Record};
use crate::synthetic::GROUPS;
use crate::world::rights;

/// How the caller's rights are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Not at all.
    Plain,
    /// For each match, by a column.
    Column,
    /// As a clause of the query.
    Clause,
}

pub struct Full {
    index: Index,
    reader: IndexReader,
    fields: Fields,
}

#[derive(Clone, Copy)]
struct Fields {
    id: Field,
    head: Field,
    body: Field,
    group: Field,
}

impl Full {
    pub fn build(folder: &Path, catalog: &Catalog) -> Result<()> {
        let (schema, fields) = schema();
        let index = Index::create_in_dir(folder, schema)?;
        register(&index);
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 1 << 29)?;
        for record in catalog.records() {
            writer.add_document(document(&fields, &record))?;
        }
        writer.commit()?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.wait_merging_threads()?;
        Ok(())
    }

    pub fn open(folder: &Path) -> Result<Self> {
        let index = Index::open_in_dir(folder)?;
        register(&index);
        let reader = index.reader_builder().reload_policy(tantivy::ReloadPolicy::Manual).try_into()?;
        let (_, fields) = schema();
        Ok(Self { index, reader, fields })
    }

    /// Sum of the scores of the ten best, and how many there are.
    pub fn run(&self, request: &str, rights_by: Rights) -> u64 {
        let words = self.words(request);
        let best = TopDocs::with_limit(10).order_by_score();
        match rights_by {
            Rights::Plain => self.found(&words, &best),
            Rights::Column => {
                let rights = rights();
                let sees = move |group: u64| rights[(group & 0xff) as usize];
                self.found(&words, &FilterCollector::new("group".to_owned(), sees, best))
            }
            Rights::Clause => {
                let groups = (0..GROUPS).filter(|group| sees(*group));
                let terms = groups.map(|group| Term::from_field_u64(self.fields.group, group as u64));
                let seen = ConstScoreQuery::new(Box::new(TermSetQuery::new(terms)), 0.0);
                let both: Vec<(Occur, Box<dyn Query>)> =
                    vec![(Occur::Must, Box::new(words)), (Occur::Must, Box::new(seen))];
                self.found(&BooleanQuery::new(both), &best)
            }
        }
    }

    fn found<C: Collector<Fruit = Vec<(f32, tantivy::DocAddress)>>>(
        &self,
        query: &dyn Query,
        best: &C,
    ) -> u64 {
        let hits = self.reader.searcher().search(query, best).expect("tantivy answers");
        hits.iter().map(|(_, address)| u64::from(address.doc_id)).sum::<u64>() + hits.len() as u64
    }

    fn words(&self, request: &str) -> BooleanQuery {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        each_term(request, &mut |term| {
            let of = |field| {
                Box::new(TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::WithFreqs))
            };
            clauses.push((Occur::Should, Box::new(BoostQuery::new(of(self.fields.head), 4.0))));
            clauses.push((Occur::Should, of(self.fields.body)));
        });
        BooleanQuery::new(clauses)
    }

    /// Replaces skills; when this returns they are durable, and the next search finds them.
    pub fn replace(&self, writer: &mut IndexWriter, records: &[Record]) -> Result<()> {
        for record in records {
            writer.delete_term(Term::from_field_text(self.fields.id, &record.id));
            writer.add_document(document(&self.fields, record))?;
        }
        writer.commit()?;
        Ok(self.reader.reload()?)
    }

    pub fn writer(&self) -> Result<IndexWriter> {
        Ok(self.index.writer_with_num_threads(1, 1 << 28)?)
    }
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let text = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default().set_tokenizer("terms").set_index_option(IndexRecordOption::WithFreqs),
    );
    let fields = Fields {
        id: builder.add_text_field("id", STRING | STORED),
        head: builder.add_text_field("head", text.clone()),
        body: builder.add_text_field("body", text),
        group: builder.add_u64_field("group", FAST | INDEXED),
    };
    (builder.build(), fields)
}

fn document(fields: &Fields, record: &Record) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_text(fields.id, &record.id);
    let lists = [&record.tags, &record.aliases, &record.examples].map(|list| list.join("\n"));
    for text in [&record.name, &record.description, &lists[0], &lists[1], &lists[2]] {
        document.add_text(fields.head, text);
    }
    document.add_text(fields.body, &record.content);
    document.add_u64(fields.group, u64::from(record.group));
    document
}

fn register(index: &Index) {
    index.tokenizers().register("terms", Terms);
}

/// The terms of [`each_term`] as tantivy takes them.
#[derive(Clone)]
struct Terms;

struct Stream {
    tokens: Vec<Token>,
    at: usize,
}

impl Tokenizer for Terms {
    type TokenStream<'a> = Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream {
        let mut tokens = Vec::new();
        each_term(text, &mut |term| {
            tokens.push(Token { position: tokens.len(), text: term.to_owned(), ..Token::default() });
        });
        Stream { tokens, at: 0 }
    }
}

impl TokenStream for Stream {
    fn advance(&mut self) -> bool {
        self.at += 1;
        self.at <= self.tokens.len()
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at - 1]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.at - 1]
    }
}
