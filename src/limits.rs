//! Every limit of the product, in one file.
//!
//! A limit is part of the contract: at it things work, one beyond it is refused with an error that names the
//! limit. Sizes are in bytes unless the name says otherwise (`_chars` counts Unicode scalar values).

/// Longest skill id.
pub const ID_BYTES_MAX: usize = 128;
/// Longest skill name.
pub const NAME_CHARS_MAX: usize = 128;
/// Longest description.
pub const DESCRIPTION_CHARS_MAX: usize = 16_384;
/// Description length above which import warns (`description_too_long`).
pub const DESCRIPTION_CHARS_ADVISED: usize = 1_024;
/// Longest version text.
pub const VERSION_CHARS_MAX: usize = 64;
/// Most tags of a skill.
pub const TAGS_MAX: usize = 32;
/// Longest tag.
pub const TAG_CHARS_MAX: usize = 64;
/// Most aliases of a skill.
pub const ALIASES_MAX: usize = 64;
/// Longest alias.
pub const ALIAS_CHARS_MAX: usize = 128;
/// Most examples of a skill.
pub const EXAMPLES_MAX: usize = 64;
/// Longest example.
pub const EXAMPLE_CHARS_MAX: usize = 512;
/// Most subscriptions of a synced skill.
pub const SUBSCRIPTIONS_MAX: usize = 64;
/// Longest subscription id.
pub const SUBSCRIPTION_BYTES_MAX: usize = 128;
/// Most apps of a skill.
pub const APPS_MAX: usize = 64;
/// Most entries in `allowed_tools` or `preapproved_tools`.
pub const TOOLS_LISTED_MAX: usize = 256;
/// Longest entry in `allowed_tools` or `preapproved_tools`.
pub const TOOL_ENTRY_CHARS_MAX: usize = 512;
/// Most success criteria.
pub const CRITERIA_MAX: usize = 64;
/// Longest success criterion.
pub const CRITERION_CHARS_MAX: usize = 1_024;
/// Longest of `license`, `author`, `compatibility`.
pub const ATTRIBUTE_CHARS_MAX: usize = 1_024;
/// Largest `metadata`, as canonical JSON.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;
/// Deepest `metadata`.
pub const METADATA_DEPTH_MAX: usize = 8;
/// Largest `content`.
pub const CONTENT_BYTES_MAX: usize = 1024 * 1024;
/// Content size above which import warns (`body_over_limit`).
pub const CONTENT_BYTES_ADVISED: usize = 64 * 1024;
/// Most parameters of a flow.
pub const PARAMETERS_MAX: usize = 64;
/// Longest parameter name.
pub const PARAMETER_NAME_CHARS_MAX: usize = 64;
/// Most entries in a parameter's `enum` or `examples`.
pub const PARAMETER_VALUES_MAX: usize = 256;
/// Longest regular expression in a parameter's `pattern`.
pub const PATTERN_BYTES_MAX: usize = 1_024;
/// Largest compiled form of a `pattern`.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// Most steps of a flow.
pub const STEPS_MAX: usize = 256;
/// Deepest `args_template`.
pub const TEMPLATE_DEPTH_MAX: usize = 16;
/// Largest `args_template` of one step, as canonical JSON.
pub const TEMPLATE_BYTES_MAX: usize = 64 * 1024;
/// Longest `note` of a step.
pub const NOTE_CHARS_MAX: usize = 1_024;
/// Most resources beside a skill.
pub const RESOURCES_MAX: usize = 512;
/// Largest sum of a skill's resources.
pub const RESOURCES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Largest sum of the resources of all skills of one import; a skill beyond it is rejected.
pub const IMPORT_RESOURCES_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Largest value given to `resolve`.
pub const VALUE_BYTES_MAX: usize = 64 * 1024;
/// Largest resolved step list.
pub const RESOLVED_BYTES_MAX: usize = 1024 * 1024;
/// Largest front matter block.
pub const FRONT_MATTER_BYTES_MAX: usize = 64 * 1024;
/// Deepest YAML in front matter.
pub const YAML_DEPTH_MAX: usize = 16;
/// Most YAML nodes in front matter.
pub const YAML_NODES_MAX: usize = 10_000;
/// Most nodes made by YAML alias expansion.
pub const YAML_ALIAS_EXPANSION_MAX: usize = 1_000;
/// Most bytes of text made by YAML alias expansion.
pub const YAML_ALIAS_BYTES_MAX: usize = 1024 * 1024;
/// How deep `runFlow` of Maestro flows may be nested.
pub const FLOW_INLINE_DEPTH_MAX: usize = 8;
/// Most flows that one Maestro flow may run, those inside of others included.
pub const FLOW_INLINES_MAX: usize = 256;
/// How much of a body lint compares with others; the rest is ignored.
pub const LINT_COMPARED_BYTES_MAX: usize = 64 * 1024;
/// How much of the files beside a skill lint looks at in an import; larger ones are passed over.
pub const LINT_FILES_BYTES_MAX: usize = 256 * 1024;
/// Files that an import reads again for the places of what lint found between skills.
pub const LINT_IMPORT_FILES_MAX: usize = 256;
/// Aliases and examples that an import puts to `match`; `lint` tries all of them.
pub const LINT_IMPORT_PHRASES_MAX: usize = 1_000;
/// Findings of lint that `import` shows to a person; `lint` shows all.
pub const LINT_IMPORT_TOLD_MAX: usize = 50;
/// Largest file that holds one skill.
pub const SKILL_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Largest `*.skill.json` array or JSON lines file.
pub const SKILL_STREAM_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Most bytes of one skill in a JSON array or a line of JSON lines.
pub const JSON_SKILL_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most values in the JSON of one skill, or of the parameters given to `resolve`, where an object counts as twenty.
pub const JSON_VALUES_MAX: usize = 2 * 1024 * 1024;
/// Most problems, and most warnings, that are told of the members of one skill.
pub const PROBLEMS_MAX: usize = 1_000;
/// Most places of one skill of which the line is shown.
pub const EXCERPTS_MAX: usize = 64;
/// Longest part of a line that is shown around a place in it.
pub const EXCERPT_CHARS_MAX: usize = 160;
/// Deepest folder that import walks.
pub const FOLDER_DEPTH_MAX: usize = 16;
/// Most files that one import looks at.
pub const IMPORT_FILES_MAX: usize = 100_000;
/// Files of an import above which it shows its progress.
pub const PROGRESS_FILES_MIN: usize = 200;
/// How often `import --watch` looks for changes, in milliseconds; less often where a look takes long.
pub const WATCH_INTERVAL_MS: u64 = 500;
/// How long `import --watch` waits for changes to end before it imports all the same, in milliseconds.
pub const WATCH_SETTLE_MS_MAX: u64 = 10_000;
/// Most files and folders that `import --watch` looks at.
pub const FINGERPRINT_ENTRIES_MAX: usize = 1_000_000;
/// Deepest folder that `import --watch` looks at.
pub const FINGERPRINT_DEPTH_MAX: usize = 64;
/// Most skills in a layer.
pub const LAYER_SKILLS_MAX: usize = 16_000_000;
/// Payload segments of a layer, and source files: small changes add some, which larger ones swallow.
pub const SEGMENTS_KEPT_MAX: usize = 5;
/// Longest text of a lookup, search or match request; the rest is ignored.
pub const QUERY_BYTES_MAX: usize = 4 * 1024;
/// Most different terms of a search; those after them are ignored.
pub const QUERY_TERMS_MAX: usize = 512;
/// Largest `CURRENT`.
pub const MANIFEST_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Most tools in a registry.
pub const REGISTRY_TOOLS_MAX: usize = 4_096;
/// Largest tool registry file.
pub const REGISTRY_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Largest configuration file.
pub const CONFIG_BYTES_MAX: u64 = 1024 * 1024;
/// Largest file or text given to `resolve --params`.
pub const PARAMS_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Largest file of labelled queries that `eval` reads.
pub const LABELLED_QUERIES_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Longest line (one JSON-RPC message) that the MCP server reads on stdio; a longer one is skipped and refused.
pub const MCP_LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most MCP answers that wait for a client to read them; until it does, no further request is taken.
pub const MCP_WAITING_ANSWERS_MAX: usize = 256;
/// Longest `instructions` of the MCP server.
pub const MCP_INSTRUCTIONS_CHARS_MAX: usize = 800;
/// Largest MCP `tools/list` answer with every tool on.
pub const MCP_TOOL_LIST_BYTES_MAX: usize = 24_000;
/// Most skills in one answer of the MCP tool `list_skills`.
pub const MCP_LIST_MAX: u64 = 100;
/// Most skills in one answer of the MCP tool `search_skills`.
pub const MCP_SEARCH_MAX: u64 = 25;
/// Longest description in a list or search answer of the MCP server; the rest is in `get_skill`.
pub const MCP_DESCRIPTION_CHARS_MAX: usize = 1_024;
/// Longest cursor of a list.
pub const CURSOR_BYTES_MAX: usize = 4 * 1024;
/// Longest filter text (a tag, an app package) that the MCP server takes.
pub const MCP_FILTER_BYTES_MAX: usize = 512;
/// Largest body of an HTTP request to the MCP server; a larger one is answered 413.
pub const MCP_HTTP_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest time for the head or the body of an HTTP request or a TLS handshake, in milliseconds.
pub const MCP_HTTP_PATIENCE_MS: u64 = 30_000;
/// Largest head of an HTTP request.
pub const MCP_HTTP_HEAD_BYTES_MAX: usize = 64 * 1024;
/// Most headers of an HTTP request.
pub const MCP_HTTP_HEADERS_MAX: usize = 64;
/// Most connections of the HTTP server; further ones wait to be accepted.
pub const MCP_HTTP_CONNECTIONS_MAX: usize = 1_024;
/// How long a session without requests stays, in milliseconds.
pub const MCP_HTTP_SESSION_IDLE_MS: u64 = 600_000;
/// How often the files of tokens are looked at while no request comes, in milliseconds.
pub const MCP_HTTP_RELOAD_MS: u64 = 500;
/// How long a stopping HTTP server waits for answers on their way, in milliseconds.
pub const MCP_HTTP_LAST_ANSWERS_MS: u64 = 2_000;
/// Most principals of an HTTP server.
pub const PRINCIPALS_MAX: usize = 1_024;
/// Largest file of principals.
pub const PRINCIPALS_BYTES_MAX: u64 = 1024 * 1024;
/// Longest name of a principal.
pub const PRINCIPAL_NAME_BYTES_MAX: usize = 64;
/// Skills in one page of `skills/list`, `resources/list` and `prompts/list`.
pub const MCP_PAGE_SKILLS: usize = 50;
/// Most resources that one session watches for changes.
pub const MCP_WATCHED_MAX: usize = 256;
/// Most values of one completion, as the protocol says.
pub const MCP_COMPLETIONS_MAX: usize = 100;
/// Most problems that one error of an MCP tool lists; it says how many more there are.
pub const MCP_PROBLEMS_LISTED_MAX: usize = 20;
/// Longest name of a skill in the Agent Skills standard.
pub const SERVED_NAME_CHARS_MAX: usize = 64;
/// Longest description of a skill in the Agent Skills standard.
pub const SERVED_DESCRIPTION_CHARS_MAX: usize = 1_024;
/// Most files of a skill that the Skills extension serves, `SKILL.md` included.
pub const SERVED_FILES_MAX: usize = 512;
/// Longest resource URI that is looked up.
pub const MCP_URI_BYTES_MAX: usize = 4 * 1024;
/// Most characters of a refused text that an error shows back; every valid id fits.
pub const ECHOED_CHARS_MAX: usize = 128;
/// Most characters of the field or pointer by which a problem names its place.
pub const FIELD_CHARS_MAX: usize = 512;
/// Longest text before the hash in the name of a segment file.
pub const FILE_PREFIX_BYTES_MAX: usize = 32;
/// Most sections of a segment file.
pub const SECTIONS_MAX: usize = 256;
/// Largest payload of one statement in the revocation ring.
pub const STATEMENT_BYTES_MAX: usize = 516;
/// Longest wait of a revocation for the lock, in milliseconds.
pub const REVOKE_LOCK_WAIT_MS: u64 = 1_000;
/// Longest wait of a commit for the lock, in milliseconds.
pub const COMMIT_LOCK_WAIT_MS: u64 = 10_000;
/// How long a file stays after the last manifest that reached it, in milliseconds.
pub const RETIRED_GRACE_MS: u64 = 60_000;
/// How long a file stays that was never committed, in milliseconds.
pub const UNCOMMITTED_GRACE_MS: u64 = 3_600_000;
/// Most generations of a layer that are kept for rollback.
pub const KEEP_GENERATIONS_MAX: usize = 16;
/// Most skills of one page of a list.
pub const LIST_LIMIT_MAX: usize = 10_000;
/// Most hits of one search.
pub const SEARCH_LIMIT_MAX: usize = 100;
/// Looks of different narrowing that a process shares between views.
pub const LOOKS_CACHED_MAX: usize = 64;
/// Most skills of a made-up catalog that `bench` measures.
pub const BENCH_SKILLS_MAX: usize = 1_000_000;
/// How often an update is built again when others commit meanwhile.
pub const UPDATE_ATTEMPTS_MAX: u32 = 8;
/// Longest reason of a deprecation.
pub const REASON_CHARS_MAX: usize = 1_024;
/// Most ids in `derived_from`.
pub const DERIVED_FROM_MAX: usize = 64;
/// Longest media type of a resource.
pub const MEDIA_TYPE_CHARS_MAX: usize = 128;
/// Most compiled patterns that a process keeps.
pub const PATTERNS_CACHED_MAX: usize = 256;
/// Deepest JSON Schema, and deepest value checked against one.
pub const SCHEMA_DEPTH_MAX: usize = 32;
/// Most problems that one check against a schema reports.
pub const SCHEMA_PROBLEMS_MAX: usize = 256;
/// Longest tool or argument name, in a step or a registry.
pub const TOOL_NAME_CHARS_MAX: usize = 128;
/// Most skills that one name, alias or example leads to; those after them are not looked at.
pub const NAMED_MAX: usize = 1_000;
/// Most events of a timeline; those after them are not recorded, and nothing is learned from it.
pub const TIMELINE_EVENTS_MAX: usize = 10_000;
/// Largest timeline file.
pub const TIMELINE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Longest goal of a task.
pub const GOAL_CHARS_MAX: usize = 4_096;
/// Longest goal or note that the MCP server takes.
pub const GOAL_BYTES_MAX: usize = 16 * 1024;
/// Most executions that a learned skill keeps as evidence; the oldest go first.
pub const EVIDENCE_RUNS_MAX: usize = 64;
/// Largest evidence of a learned skill; the oldest executions go first.
pub const EVIDENCE_BYTES_MAX: usize = 1024 * 1024;
/// Most learned skills; the one with the least evidence goes first, among equals the oldest.
pub const LEARNED_SKILLS_MAX: u64 = 1_000;
/// Most learned skills that share their tools and name no app.
pub const LEARNED_TWINS_MAX: usize = 64;
/// Longest text in which a part of a value is looked for; a longer one is only compared as a whole.
pub const SPAN_BYTES_MAX: usize = 8 * 1024;
/// Largest UI tree that is read.
pub const UI_TREE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Most nodes of a UI tree; those after them are left out.
pub const UI_NODES_MAX: usize = 20_000;
/// Deepest node of a UI tree; those below are left out.
pub const UI_DEPTH_MAX: usize = 256;
/// Largest UI tree that the MCP server sends; a larger one is cut with a note.
pub const UI_TREE_SENT_BYTES_MAX: usize = 256 * 1024;
/// Most characters of a label in a line about an element.
pub const LABEL_CHARS_MAX: usize = 60;
/// Most characters of an element's text that a decision or an error looks at.
pub const ELEMENT_TEXT_CHARS_MAX: usize = 1_024;
/// Lines of `describe_screen` unless the caller says otherwise.
pub const SCREEN_ELEMENTS_DEFAULT: usize = 150;
/// Screens that are remembered of a device, so that an index of one of them can be used.
pub const SNAPSHOTS_KEPT_MAX: usize = 16;
/// Lines that an answer shows of what an action changed.
pub const SCENE_DIFF_LINES_MAX: usize = 8;
/// How often a failed look at the screen is repeated, if its code says that it may pass.
pub const LOOK_ATTEMPTS_MAX: u32 = 4;
/// Pause before a failed look is repeated, in milliseconds; it doubles each time.
pub const LOOK_PAUSE_MS: u64 = 150;
/// Pause between two looks of a wait, in milliseconds.
pub const WAIT_PAUSE_MS: u64 = 250;
/// How long an action waits at most for the screen to come to rest, in milliseconds.
pub const SETTLE_MS_MAX: u64 = 2_500;
/// How long an action waits for its first effect on the screen, in milliseconds.
pub const SETTLE_FIRST_MS: u64 = 400;
/// Longest call of a device tool, waits for the screen included, in milliseconds.
pub const DEVICE_CALL_MS_MAX: u64 = 120_000;
/// Longest text that is typed in one call.
pub const TYPED_BYTES_MAX: usize = 64 * 1024;
/// Most keys that are pressed in one call of a driver.
pub const KEYS_MAX: usize = 1_000;
/// Longest side of a screenshot that is sent unless the caller asks for a scale.
pub const SCREENSHOT_SIDE_PX: u32 = 1_024;
/// Most pixels of a screenshot that is read.
pub const SCREENSHOT_PIXELS_MAX: u64 = 64 * 1024 * 1024;
/// Largest scene file.
pub const SCENE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Largest policy file.
pub const POLICY_BYTES_MAX: u64 = 256 * 1024;
/// Most rules of a policy file.
pub const POLICY_RULES_MAX: usize = 256;
/// Most entries in a list of a policy rule.
pub const POLICY_LIST_MAX: usize = 256;
/// Most characters of a text that policy rules look at.
pub const POLICY_TEXT_CHARS_MAX: usize = 16 * 1024;
/// How long a call waits for a person's approval, in milliseconds.
pub const APPROVAL_WAIT_MS: u64 = 180_000;
/// How long an unanswered approval of a stateless client stays open, in milliseconds.
pub const APPROVAL_OPEN_MS: u64 = 600_000;
/// Most approvals of one session that are open at once; the oldest goes first.
pub const APPROVALS_OPEN_MAX: usize = 32;
/// Most resolved secrets of one session that are remembered as hashes; the oldest goes first.
pub const SECRETS_KEPT_MAX: usize = 256;
/// Longest text in which a known secret is looked for; a longer one is masked whole once a secret is known.
pub const SECRET_SEARCH_BYTES_MAX: usize = 4 * 1024;

/// Time that a device call may take by default.
pub const DEVICE_TIMEOUT_MS: u64 = 10_000;
/// Time that the adb server may take to start.
pub const ADB_START_TIMEOUT_MS: u64 = 15_000;
/// Longest request to the adb server: its length is written in four hexadecimal digits.
pub const ADB_REQUEST_BYTES_MAX: usize = 0xffff;
/// Longest command line sent to a phone at once; old phones take 4,096 bytes with everything around it.
pub const ADB_COMMAND_BYTES_MAX: usize = 3_500;
/// Largest output of a command on a phone.
pub const ADB_OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Largest error output of a command on a phone that is kept.
pub const ADB_STDERR_BYTES_MAX: usize = 64 * 1024;
/// Largest picture that a phone may send.
pub const ADB_PICTURE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Largest file that is copied from or to a phone.
pub const ADB_FILE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Longest path on a phone.
pub const ADB_PATH_BYTES_MAX: usize = 1_024;
/// Characters that one `input text` types; more at once get lost on slow phones.
pub const ADB_TYPED_CHARS_MAX: usize = 100;
/// Most secrets of the webhook receiver, so that keys can be exchanged.
pub const WEBHOOK_SECRETS_MAX: usize = 8;
/// Largest file of webhook secrets.
pub const WEBHOOK_SECRETS_BYTES_MAX: u64 = 64 * 1024;
/// Most signatures of one webhook that are looked at.
pub const WEBHOOK_SIGNATURES_MAX: usize = 16;
/// Longest time that a webhook's sender may take to send it, in milliseconds.
pub const WEBHOOK_READ_MS_MAX: u64 = 10_000;
/// Most webhooks that are read at once.
pub const WEBHOOK_IN_FLIGHT_MAX: usize = 64;
/// Removed skills of a subscription that the development platform remembers.
pub const PLATFORM_REMOVED_KEPT_MAX: usize = 100_000;
/// Most items of a page of the development platform.
pub const PLATFORM_PAGE_ITEMS_MAX: usize = 1_000;
/// Bytes of skills after which the development platform begins another page.
pub const PLATFORM_PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Smallest skill that the development platform sends as a blob.
pub const PLATFORM_BLOB_BYTES_MIN: usize = 256 * 1024;
/// Smallest answer that the development platform compresses.
pub const PLATFORM_ENCODED_BYTES_MIN: usize = 512;
/// Longest wait that a client of the development platform may ask for, in seconds.
pub const PLATFORM_WAIT_S_MAX: u64 = 60;
/// Largest report that the development platform takes.
pub const PLATFORM_REPORT_BYTES_MAX: usize = 1024 * 1024;
/// Requests that the development platform remembers.
pub const PLATFORM_REQUESTS_KEPT_MAX: usize = 1_000;
/// How often the development platform looks for changes, in milliseconds; less often where a look takes long.
pub const PLATFORM_WATCH_INTERVAL_MS: u64 = 100;
/// How long the development platform waits for its threads when it stops, in milliseconds.
pub const PLATFORM_STOP_MS_MAX: u64 = 2_000;
/// How often the development platform tries to tell a webhook.
pub const PLATFORM_WEBHOOK_ATTEMPTS_MAX: u32 = 3;
/// How long it waits after the first try, in milliseconds; after the second twice as long.
pub const PLATFORM_WEBHOOK_WAIT_MS: u64 = 500;
/// Most redirects of one request that are followed.
pub const SYNC_REDIRECTS_MAX: usize = 5;
/// Most pages of a catalog that a check of a platform looks at.
pub const CHECK_PAGES_MAX: usize = 10_000;
/// Most faults of one kind that a check names.
pub const CHECK_NAMED_MAX: usize = 3;
/// Most blobs that a check fetches.
pub const CHECK_BLOBS_MAX: usize = 16;
/// Largest page of a catalog from a platform, and largest entitlements document, after decompression.
pub const SYNC_PAGE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Most items, tombstones or revocations of one document of a platform.
pub const SYNC_PAGE_ITEMS_MAX: usize = 100_000;
/// Largest item that a platform sends apart (a blob).
pub const SYNC_BLOB_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Longest cursor, page token, `ETag` or other word of a document of a platform.
pub const SYNC_TOKEN_BYTES_MAX: usize = 1_024;
/// Longest id of an item as a platform sends it; a skill's own limit is shorter.
pub const SYNC_ITEM_ID_BYTES_MAX: usize = 1_024;
/// Most ids that an entitlements document grants one by one.
pub const SYNC_GRANTS_MAX: usize = 1_000_000;
/// Longest name of a platform's history.
pub const SYNC_HISTORY_BYTES_MAX: usize = 128;
/// Most public keys that are pinned at a time.
pub const SYNC_PUBLIC_KEYS_MAX: usize = 16;
/// Longest name of a public key.
pub const SYNC_KEY_ID_BYTES_MAX: usize = 128;
/// Most subscriptions that one deployment syncs.
pub const SYNC_SUBSCRIPTIONS_MAX: usize = 64;
/// Largest body of a webhook.
pub const WEBHOOK_BYTES_MAX: usize = 64 * 1024;
/// How far the time of a webhook may be from ours, in seconds.
pub const WEBHOOK_SKEW_S_MAX: u64 = 300;
/// Longest time of one request to a platform, its body included, in milliseconds.
pub const SYNC_REQUEST_MS_MAX: u64 = 20_000;
/// Longest time until there is a connection to a platform, in milliseconds.
pub const SYNC_CONNECT_MS_MAX: u64 = 5_000;
/// Largest file with a token.
pub const SYNC_TOKEN_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Webhooks that are remembered, so that the same bytes again do nothing.
pub const WEBHOOK_REPLAYS_KEPT_MAX: usize = 1_024;
/// Largest notes about the last tries to sync.
pub const SYNC_NOTES_BYTES_MAX: u64 = 64 * 1024;
/// Longest failure that the notes keep of a subscription.
pub const SYNC_ERROR_CHARS_MAX: usize = 300;
/// Intervals without a successful check after which the catalog is said to be stale.
pub const SYNC_STALE_INTERVALS: u64 = 3;
/// Most removals of one webhook that go into the revocation ring one by one; more go into the manifest, if they can.
pub const RING_REMOVALS_MAX: usize = 32;
/// Items of a page that are asked for at first.
pub const SYNC_PAGE_LIMIT: u32 = 1_000;
/// Most pages of one answer.
pub const SYNC_PAGES_MAX: u64 = 100_000;
/// How often pages that expired are begun again.
pub const SYNC_RESTARTS_MAX: u32 = 3;
/// How often a damaged answer is asked for again.
pub const SYNC_RETRIES_MAX: u32 = 3;
/// Pause before the first of these tries, in milliseconds; it doubles, so that all pauses stay below two seconds.
pub const SYNC_RETRY_PAUSE_MS: u64 = 200;
/// Longest pause after failures, in seconds.
pub const SYNC_BACKOFF_S_MAX: u64 = 300;
/// Longest pause that a platform can ask for, in seconds.
pub const SYNC_RETRY_AFTER_S_MAX: u64 = 3_600;
/// Within how long a hint leads to a check, in milliseconds.
pub const SYNC_WAKE_JITTER_MS_MAX: u64 = 500;
/// Pause between two looks whether the poller's office is free, in milliseconds.
pub const SYNC_ELECTION_PAUSE_MS: u64 = 2_000;
/// Longest sleep of the poller between two looks at the clock, in milliseconds.
pub const SYNC_SLEEP_MS_MAX: u64 = 5_000;
/// Longest time of the command `sync`, in seconds.
pub const SYNC_COMMAND_S_MAX: u64 = 30;
