//! Lint from the outside: every rule on skills that it is for and on those that it is not for, the document, SARIF.

mod docs;
mod rules;
mod sarif;
mod starter;
