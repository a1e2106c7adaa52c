//! Search over all layers, and the match of a request to the one skill that should handle it.

use crate::catalog::answer::{Filter, Hit, MatchAnswer, SearchPage, Why};
use crate::catalog::look::{clip, out_of_range};
use crate::catalog::{Look, SkillRef, phrase};
use crate::error::Result;
use crate::index::names::KeyKind;
use crate::index::text::{self, Part, Scratch};
use crate::limits::SEARCH_LIMIT_MAX;
use crate::model::normalise;
use crate::tools::{ExactCommand, exact_command};

/// Others that a match names.
const CANDIDATES_MAX: usize = 3;
