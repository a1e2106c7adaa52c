//! Which skills are active and what they allow together.

use crate::catalog::{Look, SkillRef};
use crate::error::Result;
use crate::guard::refusal::Refusal;
use crate::model::Risk;
use crate::tools::{Allowlist, Call, Permission, ToolRegistry};

/// A call that the scope lets through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admitted {
    /// Id of the active skill.
    pub skill: Option<String>,
    /// Its risk, by its own word or by its tools, whichever is higher.
    pub skill_risk: Option<Risk>,
}

/// What `use_skill` would do to the scope.
#[derive(Clone, Debug)]
pub struct ScopeChange {
    /// The scope with a person's approval.
    pub(super) approved: Scope,
    /// The scope without it; `None` where nothing can be done without.
    pub(super) unapproved: Option<Scope>,
    /// Whether a person has to be asked for the first one.
    pub needs_approval: bool,
}

/// The scope of one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The skill whose guidance is followed.
    pub(super) active: Option<Active>,
    /// Every skill that contributed to the allowlist: if one goes, the scope closes.
    sources: Vec<Source>,
    /// `None`: no skill limits anything.
    pub(super) allowed: Option<Allowed>,
    /// The skill that went.
    pub(super) closed: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Active {
    pub(super) id: String,
    pub(super) risk: Risk,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    id: String,
    digest: [u8; 32],
}

/// A set of permitted calls with the words for it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allowed {
    pub(super) list: Allowlist,
    pub(super) names: Vec<String>,
}

impl Allowed {
    /// What a skill allows; `None` if it limits nothing. A tool that this deployment does not know is left out.
    pub(super) fn of(skill: &SkillRef<'_>, registry: &ToolRegistry) -> Option<Self> {
        let permissions: Vec<Permission> = skill
            .effective_tools()?
            .iter()
            .filter_map(|entry| Permission::parse(entry, registry, "").ok())
            .collect();
        let names = permissions.iter().map(|permission| permission.name().to_owned()).collect();
        Some(Self { list: Allowlist::new(&permissions), names })
    }

    fn intersect(&self, other: &Self, registry: &ToolRegistry) -> Self {
        let list = self.list.intersect(&other.list);
        // The names of both that are still permitted, whole or in part.
        let names = self
            .names
            .iter()
            .chain(other.names.iter().filter(|name| !self.names.contains(name)))
            .filter(|name| {
                let permission = Permission::parse(name, registry, "").ok();
                permission.is_some_and(|permission| {
                    let one = Allowlist::new([&permission]);
                    list.intersect(&one) == one
                })
            })
            .cloned()
            .collect();
        Self { list, names }
    }
}

/// What two limits permit together.
fn both(left: Option<&Allowed>, right: Option<&Allowed>, registry: &ToolRegistry) -> Option<Allowed> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.intersect(right, registry)),
        (one, None) | (None, one) => one.cloned(),
    }
}

impl Scope {
    /// The scope of a pinned skill; closed if the skill cannot be used.
    pub(super) fn pinned(look: &Look, id: &str, registry: &ToolRegistry) -> Result<Self> {
        let found = look.get(id)?.filter(SkillRef::is_available);
        Ok(found.map_or_else(|| Self::closed(id), |skill| Self::of(&skill, registry)))
    }

    /// The scope of one skill alone.
    pub(super) fn of(skill: &SkillRef<'_>, registry: &ToolRegistry) -> Self {
        Self {
            active: Some(Active { id: skill.id().to_owned(), risk: skill.effective_risk() }),
            sources: vec![Source { id: skill.id().to_owned(), digest: *skill.digest() }],
            allowed: Allowed::of(skill, registry),
            closed: None,
        }
    }

    fn closed(id: &str) -> Self {
        let nothing = Allowed { list: Allowlist::default(), names: Vec::new() };
        Self { active: None, sources: Vec::new(), allowed: Some(nothing), closed: Some(id.to_owned()) }
    }

    /// This scope narrowed by another one, whose skill becomes the active one.
    pub(super) fn narrowed_by(&self, other: &Self, registry: &ToolRegistry) -> Self {
        let mut sources = self.sources.clone();
        sources.extend(other.sources.iter().filter(|source| !self.sources.contains(source)).cloned());
        Self {
            active: other.active.clone(),
            sources,
            allowed: both(self.allowed.as_ref(), other.allowed.as_ref(), registry),
            closed: self.closed.clone().or_else(|| other.closed.clone()),
        }
    }

    /// Whether everything that this scope permits is permitted by another one.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        match (&self.allowed, &other.allowed) {
            (_, None) => other.closed.is_none(),
            (None, Some(_)) => false,
            (Some(mine), Some(theirs)) => mine.list.intersect(&theirs.list) == mine.list,
        }
    }

    /// Closes the scope if a skill of it is gone, hidden, unusable or another one by now.
    pub(super) fn refresh(&mut self, look: &Look) -> Result<()> {
        for source in &self.sources {
            let same = look
                .get(&source.id)?
                .is_some_and(|skill| skill.is_available() && *skill.digest() == source.digest);
            if !same {
                *self = Self::closed(&source.id);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Lets a call through or says why not.
    pub(super) fn admit(&self, call: &Call<'_>) -> std::result::Result<Admitted, Refusal> {
        if let Some(skill) = &self.closed {
            return Err(Refusal::no_longer_available(skill));
        }
        if let Some(allowed) = &self.allowed
            && !allowed.list.permits(call)
        {
            let skills: Vec<String> = self.sources.iter().map(|source| format!("{:?}", source.id)).collect();
            return Err(Refusal::not_allowed(&call.spec.name, &skills, &allowed.names));
        }
        let active = self.active.as_ref();
        Ok(Admitted {
            skill: active.map(|active| active.id.clone()),
            skill_risk: active.map(|active| active.risk),
        })
    }

    /// Whether any call of a tool may be let through.
    pub(super) fn mentions(&self, ordinal: usize) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.list.mentions(ordinal))
    }
}
