//! What one caller sees at one moment: point queries and lists.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Map, Value};

use crate::catalog::answer::{Filter, ListPage};
use crate::catalog::open::OpenLayer;
use crate::catalog::record::{effective_risk, risk_byte, risk_from_byte};
use crate::catalog::search::Piece;
use crate::catalog::segment::damaged;
use crate::catalog::state::State;
use crate::catalog::visibility::Seen;
use crate::catalog::{Handle, SkillRef};
use crate::error::{Error, ParameterProblem, Problem, Result, StorageError};
use crate::flow::{self, ResolvedStep, ResolvedText};
use crate::index::bits::Bits;
use crate::index::facets::Column;
use crate::index::hash::hash128;
use crate::limits::{CURSOR_BYTES_MAX, ID_BYTES_MAX, LIST_LIMIT_MAX, QUERY_BYTES_MAX};
use crate::model::{Kind, Risk, normalise};
use crate::tools::ToolRegistry;

/// A consistent look at all layers of a catalog under one caller's entitlements. All queries are here; they read
/// mapped memory only and never wait.
#[derive(Debug)]
pub struct Look {
    pub(crate) state: Arc<State>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) registry: Arc<ToolRegistry>,
    /// What searches go through; made by the first one, since most looks are never searched.
    pieces: OnceLock<Vec<Piece>>,
}

impl Look {
    /// A look of a state with the caller's bits.
    pub(crate) fn new(state: Arc<State>, seen: Vec<Seen>, registry: Arc<ToolRegistry>) -> Self {
        Self { state, seen, registry, pieces: OnceLock::new() }
    }

    /// The segments of all layers as searches go through them.
    pub(crate) fn pieces(&self) -> &[Piece] {
        self.pieces.get_or_init(|| Piece::all(&self.state, &self.seen))
    }

    /// The epoch that this is the look of.
    pub(crate) fn epoch(&self) -> u64 {
        self.state.epoch
    }

    /// Whether a first touch found damage, so that the next query must open a new state.
    pub(crate) fn is_damaged(&self) -> bool {
        self.state.is_damaged()
    }

    /// Passes a result on and remembers damage.
    pub(crate) fn noting<T>(&self, result: Result<T>) -> Result<T> {
        if matches!(&result, Err(Error::Storage(_))) {
            self.state.mark_damaged();
        }
        result
    }

    /// The skill of exactly this id, if the caller may see it. It may be unavailable: see
    /// [`SkillRef::is_available`].
    ///
    /// Cost: a hash and one look-up a layer, the same for an id that is hidden and one that does not exist. `None` says
    /// nothing about which of the two it was.
    ///
    /// # Errors
    /// The record on disk is damaged; the next query works with the last good state.
    pub fn get(&self, id: &str) -> Result<Option<SkillRef<'_>>> {
        if id.len() > ID_BYTES_MAX {
            return Ok(None);
        }
        let hash = hash128(id.as_bytes());
        for (index, open) in self.state.layers.iter().enumerate() {
            // Errors are large: they are made where they are answered, so that what is found moves in registers.
            match open.ids().lookup(hash, &self.seen[index].visible) {
                Ok(None) => {}
                Ok(Some((slot, row))) => match open.record_of_slot(slot) {
                    Ok(record) if record.id.as_str() == id => {
                        return Ok(Some(SkillRef { look: self, open, ordinal: row.ordinal, record }));
                    }
                    Ok(_) => {}
                    Err(damage) => return self.noting(Err(damage.in_file(open.name()).into())),
                },
                Err(damage) => return self.noting(Err(damaged(open.name(), damage))),
            }
        }
        Ok(None)
    }

    /// The skill of an id as a handle that touches no record, for callers that first decide whether they want it: kind,
    /// risk, availability. [`Handle::open`] gives the skill.
    ///
    /// Cost: that of [`Look::get`] without its miss in the record.
    ///
    /// # Errors
    /// The index on disk is damaged; the next query works with the last good state.
    pub fn find(&self, id: &str) -> Result<Option<Handle<'_>>> {
        if id.len() > ID_BYTES_MAX {
            return Ok(None);
        }
        let hash = hash128(id.as_bytes());
        for (index, open) in self.state.layers.iter().enumerate() {
            match open.ids().lookup(hash, &self.seen[index].visible) {
                Ok(None) => {}
                Ok(Some((slot, row))) => return Ok(Some(Handle::new(self, index, slot, row))),
                Err(damage) => return self.noting(Err(damaged(open.name(), damage))),
            }
        }
        Ok(None)
    }

    /// As [`Look::get`], with the error that tells a caller what to do.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`] if the caller sees no such skill; damage as in `get`.
    pub fn require(&self, id: &str) -> Result<SkillRef<'_>> {
        self.get(id)?.ok_or_else(|| Error::SkillNotFound { id: id.to_owned() })
    }

    /// Visible, available skills that pass a filter, in the order of their ids. `cursor` is the `next_cursor` of an
    /// earlier page, also of an earlier snapshot: what stays is neither repeated nor skipped.
    ///
    /// Cost: the bitmaps of the filter, and one record a skill of the page.
    ///
    /// # Errors
    /// A limit of 0 or above [`LIST_LIMIT_MAX`], a cursor that is none or longer than [`CURSOR_BYTES_MAX`]; damage as in [`Look::get`].
    pub fn list(&self, filter: &Filter, limit: usize, cursor: Option<&str>) -> Result<ListPage<'_>> {
        if limit == 0 || limit > LIST_LIMIT_MAX {
            return Err(out_of_range("limit", limit, LIST_LIMIT_MAX));
        }
        let after = cursor.map(decode_cursor).transpose()?;
        let passing = self.passing(filter)?;
        let total = passing.iter().map(Bits::count).sum();
        let mut heads = Vec::with_capacity(passing.len());
        for (index, bits) in passing.iter().enumerate() {
            heads.push(self.position_after(index, bits, after.as_deref())?);
        }
        let mut skills: Vec<SkillRef<'_>> = Vec::with_capacity(limit.min(64));
        let mut next: Vec<Option<SkillRef<'_>>> = Vec::with_capacity(passing.len());
        for (index, bits) in passing.iter().enumerate() {
            next.push(self.advance(index, bits, &mut heads[index])?);
        }
        loop {
            let smallest = next.iter().enumerate().filter_map(|(i, s)| s.map(|s| (s.id(), i))).min();
            let Some((_, index)) = smallest else { break };
            if skills.len() == limit {
                let last = skills.last().map(|skill| BASE64.encode(skill.id()));
                return Ok(ListPage { skills, total, next_cursor: last });
            }
            skills.extend(next[index]);
            next[index] = self.advance(index, &passing[index], &mut heads[index])?;
        }
        Ok(ListPage { skills, total, next_cursor: None })
    }

    /// The next passing skill of a layer at or after a position of its order.
    fn advance(&self, index: usize, bits: &Bits, position: &mut usize) -> Result<Option<SkillRef<'_>>> {
        let order = self.noting(self.state.layers[index].order())?;
        while let Some(ordinal) = order.get(*position) {
            *position += 1;
            if bits.test(ordinal) {
                return self.at(index, ordinal).map(Some);
            }
        }
        Ok(None)
    }

    /// A position of a layer's order behind which every passing skill has an id above `after`. Compares with passing
    /// skills only: where a hidden one stands must not show, not even by its damage.
    fn position_after(&self, index: usize, bits: &Bits, after: Option<&str>) -> Result<usize> {
        let Some(after) = after else { return Ok(0) };
        let open = &self.state.layers[index];
        let order = self.noting(open.order())?;
        let (mut low, mut high) = (0, order.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let passing = |position: &usize| order.get(*position).is_some_and(|ordinal| bits.test(ordinal));
            let Some(probe) = (middle..high).find(passing) else {
                high = middle;
                continue;
            };
            let Some(ordinal) = order.get(probe) else { break };
            if self.noting(open.record(ordinal))?.id.as_str() <= after {
                low = probe + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The listed skills of each layer that pass a filter.
    pub(crate) fn passing(&self, filter: &Filter) -> Result<Vec<Bits>> {
        let tag = filter.tag.as_deref().map(normalise);
        let mut all = Vec::with_capacity(self.state.layers.len());
        for (open, seen) in self.state.layers.iter().zip(&self.seen) {
            let mut bits = seen.listed.clone();
            // First, since it may set bits again.
            if let Some(risk) = filter.risk {
                self.keep(open, &mut bits, Column::Risk, risk_byte(Some(risk)))?;
                self.keep_risk_of_today(open, &seen.listed, &mut bits, risk)?;
            }
            if filter.layer.is_some_and(|layer| layer != open.layer) {
                bits = Bits::new(open.ordinals());
            }
            if let Some(kind) = filter.kind {
                self.keep(open, &mut bits, Column::Kind, u8::from(kind == Kind::FlowTemplate))?;
            }
            if let Some(tag) = &tag {
                self.keep_words(open, &mut bits, tag, true)?;
            }
            if let Some(app) = &filter.app {
                self.keep_words(open, &mut bits, app, false)?;
            }
            all.push(bits);
        }
        Ok(all)
    }

    /// Decides again about skills whose tools the registry of today rates otherwise than that of the build.
    fn keep_risk_of_today(&self, open: &OpenLayer, listed: &Bits, bits: &mut Bits, risk: Risk) -> Result<()> {
        for (ordinal, now) in open.compiled_anew() {
            if !listed.test(ordinal) {
                continue;
            }
            let declared = risk_from_byte(self.noting(open.record(ordinal))?.declared_risk);
            if effective_risk(declared, now.tool_risk) == risk {
                bits.set(ordinal);
            } else {
                bits.clear(ordinal);
            }
        }
        Ok(())
    }

    fn keep(&self, open: &OpenLayer, bits: &mut Bits, column: Column, value: u8) -> Result<()> {
        let mut chosen = Bits::new(open.ordinals());
        for (segment, span) in open.segments() {
            self.noting(segment.facets())?.add_where(column, value, span.base, &mut chosen);
        }
        bits.and(&chosen);
        Ok(())
    }

    fn keep_words(&self, open: &OpenLayer, bits: &mut Bits, word: &str, tag: bool) -> Result<()> {
        let mut chosen = Bits::new(open.ordinals());
        for (segment, span) in open.segments() {
            let facets = self.noting(segment.facets())?;
            let words = if tag { &facets.tags } else { &facets.apps };
            let added = words.add(word, span.base, &mut chosen);
            self.noting(added.map_err(|damage| damaged(segment.name(), damage)))?;
        }
        bits.and(&chosen);
        Ok(())
    }

    /// The steps of a flow template with every placeholder replaced, all or nothing.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`], [`Error::SkillUnavailable`] with the reasons, [`Error::InvalidParameters`] with every
    /// problem, [`Error::InvalidArguments`] if the skill is no flow template; damage as in [`Look::get`].
    pub fn resolve(&self, id: &str, values: &Map<String, Value>) -> Result<Vec<ResolvedStep>> {
        self.with_program(id, |program| flow::resolve(program, values, &self.registry))
    }

    /// As [`Look::resolve`], as the text that a server sends: several times faster, since no tree is made of it.
    ///
    /// # Errors
    /// As [`Look::resolve`].
    pub fn resolve_text(&self, id: &str, values: &Map<String, Value>) -> Result<ResolvedText> {
        self.with_program(id, |program| flow::resolve_text(program, values, &self.registry))
    }

    /// Runs with the program of a flow template that can be used.
    fn with_program<T>(
        &self,
        id: &str,
        run: impl FnOnce(&flow::ArchivedProgram) -> Result<T, Vec<ParameterProblem>>,
    ) -> Result<T> {
        let skill = self.require(id)?;
        if !skill.is_available() {
            let reasons = skill.unavailable().iter().map(ToString::to_string).collect();
            return Err(Error::SkillUnavailable { id: id.to_owned(), reasons });
        }
        if skill.kind() != Kind::FlowTemplate {
            let message = "this skill is knowledge and has no steps; read it with get";
            return Err(Error::InvalidArguments {
                problems: vec![Problem::new("not_a_flow_template", "id", message).got(id)],
            });
        }
        let refused = |problems| Error::InvalidParameters { skill: id.to_owned(), problems };
        let Some(now) = skill.open.compiled_now(skill.ordinal) else {
            return run(&skill.record.program).map_err(refused);
        };
        // The registry is another one than at the build: the program of today is archived for this one call.
        let unusable = |error: rkyv::rancor::Error| StorageError::damaged("program", error.to_string());
        let bytes = rkyv::to_bytes(&now.program).map_err(unusable)?;
        let program = rkyv::access::<flow::ArchivedProgram, _>(&bytes).map_err(unusable)?;
        run(program).map_err(refused)
    }

    /// Whether there is nothing to see because nothing was ever put in: "never synced" is not "no match". Depends on
    /// the deployment only, not on the caller.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// State of the sync in one word, as answers carry it: `EMPTY` while [`Look::is_empty`], `SUSPENDED` while the
    /// platform's layer is hidden until it is known what holds, else `READY`.
    #[must_use]
    pub fn sync_state(&self) -> &'static str {
        self.state.sync_state()
    }

    /// The skill at a place that a bitmap of this look allows.
    pub(crate) fn at(&self, index: usize, ordinal: u32) -> Result<SkillRef<'_>> {
        let open = &self.state.layers[index];
        let record = self.noting(open.record(ordinal))?;
        Ok(SkillRef { look: self, open, ordinal, record })
    }
}

/// The part of a text that look-ups read.
pub(crate) fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(QUERY_BYTES_MAX)]
}

/// An argument outside of its range.
pub(crate) fn out_of_range(field: &str, got: usize, limit: usize) -> Error {
    let problem =
        Problem::new("out_of_range", field, format!("{field} is out of range; give a number within it"))
            .got(got)
            .allowed(format!("1 to {limit}"));
    Error::InvalidArguments { problems: vec![problem] }
}

fn decode_cursor(cursor: &str) -> Result<String> {
    let whole = Some(cursor).filter(|cursor| cursor.len() <= CURSOR_BYTES_MAX);
    let id = whole.and_then(|cursor| BASE64.decode(cursor).ok());
    let id = id.and_then(|bytes| String::from_utf8(bytes).ok());
    id.ok_or_else(|| Error::InvalidArguments {
        problems: vec![
            Problem::new(
                "invalid_cursor",
                "cursor",
                "this is no cursor of an earlier page; leave it out to begin",
            )
            .got(cursor),
        ],
    })
}
