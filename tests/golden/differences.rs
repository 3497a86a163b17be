//! The one list of what Heureka answers otherwise than the Java server, and why.
//!
//! A row selects exchanges and changes what is required of them: nothing is skipped, the changed answer is required as
//! strictly as a recorded one. Rows apply in order, the general before the special. A row that changes nothing, or a name
//! that no exchange has, fails the tests, so the list stays short and true.

use super::case::Case;
use super::changes_documents as documents;
use super::changes_errors as errors;
use super::changes_pages as pages;
use super::changes_registry as registry;
use super::expected::Expected;

/// Names of exchanges, by scenario; a `*` at either end of a name stands for any text.
pub(crate) type Names = &'static [(&'static str, &'static [&'static str])];

/// One difference that is meant.
pub(crate) struct Difference {
    /// Short name for reports.
    pub(crate) id: &'static str,
    /// What the Java server answers.
    pub(crate) java: &'static str,
    /// What Heureka answers instead.
    pub(crate) heureka: &'static str,
    /// The reason: section of the specification or decision of the design.
    pub(crate) why: &'static str,
    /// The exchanges that it is about.
    pub(crate) of: Select,
    /// Turns the requirement into the other one.
    pub(crate) change: fn(&Case<'_>, &mut Expected),
}

/// Which exchanges a difference is about.
pub(crate) enum Select {
    /// Those of these names.
    Named(Names),
    /// Those that fulfil a condition.
    Where(fn(&Case<'_>, &Expected) -> bool),
}

use Select::{Named, Where};

/// All of them.
pub(crate) static DIFFERENCES: &[Difference] = &[
    // Errors
    Difference {
        id: "empty-errors",
        java: "Boot's error page as JSON, XML or HTML, or Tomcat's, under every 4xx and 5xx of the API",
        heureka: "no body",
        why: "spring.md 1.4: a client that reads a 404 of a heartbeat as an instance never registers again",
        of: Where(errors::is_api_error_page),
        change: errors::without_body,
    },
    Difference {
        id: "errors-elsewhere",
        java: "the same pages under errors of pages and actuator",
        heureka: "nothing or a short text of its own",
        why: "spring.md 1.4: nobody reads them",
        of: Where(errors::is_other_error_page),
        change: errors::with_remark,
    },
    Difference {
        id: "error-path",
        java: "the error page is a page of its own under /error",
        heureka: "404",
        why: "nobody asks for it; the page of the Java server is no part of the specification",
        of: Named(&[("26-pages", &["error page", "error page html"])]),
        change: errors::no_error_path,
    },
    Difference {
        id: "own-methods",
        java: "Tomcat answers TRACE with all methods that it knows",
        heureka: "the methods of the resource, as for every other method",
        why: "wire.md 1.2.1",
        of: Named(&[("04-routing", &["trace"])]),
        change: errors::own_methods,
    },
    Difference {
        id: "refusals-explain",
        java: "a fixed text that names no member",
        heureka: "the same words, and beside them in documents a reason with member, finding and expectation, and an example",
        why: "issue 3 point 2; wire.md Q19: nobody parses them",
        of: Where(errors::is_refusal),
        change: errors::explained,
    },
    Difference {
        id: "bad-values",
        java: "500 for a status or timestamp that cannot be read",
        heureka: "400 with a sentence (heartbeats: empty), and nothing has changed",
        why: "wire.md Q14, 10.3 row 101, 10.4 rows 109 and 117; registry.md D26",
        of: Named(&[
            ("03-error-bodies", &["500 accept *"]),
            ("11-renew-cancel", &["w101 *", "dirty empty", "dirty too big", "newer replica override bogus"]),
            (
                "12-status-override",
                &["w109 *", "value empty", "timestamp word", "w117 *", "remove timestamp word"],
            ),
        ]),
        change: errors::bad_value,
    },
    Difference {
        id: "bad-types",
        java: "the error page under 415, and under 400 for what is no media type; reads batches as XML if told so",
        heureka: "the same status and a sentence that says what was found and what is read",
        why: "issue 3, Bad input: the answer names the fault; no client sends such bodies",
        of: Where(errors::is_about_type),
        change: errors::bad_type,
    },
    Difference {
        id: "bad-bodies",
        java: "500 for the body `null`, another known root or a list that is missing; no answer at all to some arrays",
        heureka: "400 with an explanation",
        why: "wire.md Q20, Q40, 10.2 rows 60 and 82, 10.5 rows 151 and 153b",
        of: Named(&[
            ("06-register-json-refused", &["w60 null", "instance array"]),
            ("07-register-xml", &["refused application root"]),
            ("10-poison", &["w82 metadata array"]),
            ("18-batch", &["w151 empty object", "null", "list null", "w153b null item"]),
        ]),
        change: errors::bad_body,
    },
    Difference {
        id: "limits",
        java: "bodies of any size; 8 KB of request line and headers",
        heureka: "413 above 1 MB for a registration; 16 KB of headers",
        why: "issue 3 point 6",
        of: Named(&[(
            "08-content-types",
            &["body 3 MB", "body 12 MB", "header 7 KB", "header 9 KB", "path 9 KB"],
        )]),
        change: errors::limits,
    },
    // Negotiation
    Difference {
        id: "never-406",
        java: "406 if Accept allows neither XML nor JSON, on every resource",
        heureka: "the default format, or JSON if Accept contains `json`",
        why: "design, Decisions; wire.md 10.1 rows 9 and 10",
        of: Where(errors::is_api_406),
        change: errors::default_format,
    },
    Difference {
        id: "format",
        java: "two mechanisms: the body of lists goes by the text `json`, single instances and every media type by q-values; \
               the media type of Accept is echoed",
        heureka: "one rule, JSON where Accept contains `json` in any case, and a media type that says what the body is",
        why: "spring.md 1.4, 8 item 14; wire.md 2.1, Q4",
        of: Where(documents::is_document),
        change: documents::one_format,
    },
    // Request bodies
    Difference {
        id: "gzip-requests",
        java: "Spring does not undo gzip (400) and ignores the header over a plain body (204)",
        heureka: "gzip is undone; a body that is no gzip stream is refused",
        why: "wire.md 2.4: Netflix peers may send it; design, Decisions",
        of: Named(&[
            (
                "08-content-types",
                &["w87 gzip body", "w87 gzip body: json", "content encoding gzip but plain", "header 7 KB"],
            ),
            ("18-batch", &["w141 no slash gzip"]),
        ]),
        change: registry::gzip_requests,
    },
    Difference {
        id: "no-content-type",
        java: "415",
        heureka: "read as JSON",
        why: "wire.md 10.2 row 62",
        of: Named(&[("08-content-types", &["w62 *"]), ("18-batch", &["no content type"])]),
        change: registry::no_content_type,
    },
    Difference {
        id: "lenient-reading",
        java: "400 for bare ports, a data center without class, unknown objects and arrays, Amazon members in another order",
        heureka: "read; unknown members of any type are skipped",
        why: "wire.md 3.2 (recommended), Q21, 10.2 rows 51, 72 and 84",
        of: Named(&[
            (
                "06-register-json-refused",
                &[
                    "w51 *",
                    "w72 *",
                    "w84 *",
                    "port string value",
                    "port extra member",
                    "lease object member",
                    "data center extra member",
                    "unknown array last",
                    "registry afterwards",
                    "delta afterwards",
                ],
            ),
            (
                "09-amazon",
                &[
                    "no metadata, last member",
                    "no metadata: json",
                    "metadata before name",
                    "xml amazon metadata first",
                    "application json",
                    "application xml",
                ],
            ),
        ]),
        change: registry::lenient_reading,
    },
    Difference {
        id: "no-garbage",
        java: "204 for a lease that is a text, arrays in metadata and addresses: stored as `[` and half an instance",
        heureka: "400",
        why: "wire.md 3.2 (recommended): refuse what is structurally wrong",
        of: Named(&[("06-register-json-refused", &["lease text", "metadata nested array", "ip array"])]),
        change: errors::bad_body,
    },
    Difference {
        id: "missing-app",
        java: "the parse error",
        heureka: "the text of the first check that fails, as for an empty one",
        why: "wire.md 10.2 row 47",
        of: Named(&[
            ("06-register-json-refused", &["w47 no app", "app null"]),
            ("07-register-xml", &["refused no app"]),
        ]),
        change: errors::missing_app,
    },
    Difference {
        id: "status-any-case",
        java: "lower-case statuses in JSON become UNKNOWN, in XML they are read",
        heureka: "read in any case in both",
        why: "wire.md Q30, 10.2 row 67",
        of: Named(&[("05-register-json", &["w67 status lower: json", "all as *"])]),
        change: registry::status_any_case,
    },
    Difference {
        id: "batch-items",
        java: "200 for refused registrations, 500 for items that lack something; one odd item costs the whole batch",
        heureka: "400 for the item, the others are applied; unknown members are ignored",
        why: "wire.md Q24, Q25, 10.5 rows 146, 148, 149, 152 and 153",
        of: Named(&[(
            "18-batch",
            &[
                "heartbeat bad override",
                "w146 bad",
                "w148 mismatched",
                "register without ip",
                "w149 *",
                "w152 bogus action",
                "lower action",
                "no action",
                "no appName",
                "no id",
                "w153 unknown member",
                "unknown list member",
            ],
        )]),
        change: registry::batch_items,
    },
    Difference {
        id: "batch-json",
        java: "the list of answers as XML with Java class names unless Accept prefers JSON",
        heureka: "JSON always",
        why: "wire.md 7.3: nobody uses it",
        of: Named(&[("18-batch", &["no accept", "accept xml", "accept html"])]),
        change: registry::batch_json,
    },
    // Documents
    Difference {
        id: "instance-id",
        java: "no instanceId, or an empty one, if the registration had none",
        heureka: "the id that the registry uses",
        why: "design, Decisions; wire.md 10.2 row 42: consumers throw without it",
        of: Where(documents::lacks_instance_id),
        change: documents::instance_ids,
    },
    Difference {
        id: "stray-member",
        java: "registeredApplicationsEmpty in compact documents",
        heureka: "left out",
        why: "wire.md 3.4, Q34",
        of: Where(documents::has_stray_member),
        change: documents::without_stray_member,
    },
    Difference {
        id: "true-status",
        java: "single instances in XML show OUT_OF_SERVICE and UNKNOWN as DOWN",
        heureka: "the true status",
        why: "wire.md Q7, 10.4 row 120",
        of: Named(&[
            ("07-register-xml", &["status unknown word: xml", "out of service: xml"]),
            ("12-status-override", &["w120 *", "w107 instances xml", "older replica shows instance xml"]),
        ]),
        change: documents::true_status,
    },
    Difference {
        id: "delta-version",
        java: "counts how often a delta was generated, for each format",
        heureka: "any number that never falls",
        why: "registry.md 5.5, D34",
        of: Where(documents::is_delta),
        change: documents::delta_version,
    },
    Difference {
        id: "heartbeats-in-lists",
        java: "a list shows the last renewal at the time when it was generated",
        heureka: "a list may show the one of the last visible change; single instances are always current",
        why: "issue 3 point 5: heartbeats that change nothing visible touch no cache",
        of: Where(documents::is_list_with_renewals),
        change: documents::older_renewals,
    },
    Difference {
        id: "odd-metadata",
        java: "null becomes the text `null`; an empty key, a colon in a key or a control character makes XML unreadable",
        heureka: "null is dropped, the empty key is not in XML, the colon is escaped, a replacement stands for what XML forbids",
        why: "wire.md Q32, Q33, 4.1",
        of: Named(&[
            (
                "05-register-json",
                &[
                    "w81 metadata scalars: *",
                    "full: xml",
                    "w86 metadata escapes: xml",
                    "all as json",
                    "all as xml",
                ],
            ),
            ("10-poison", &["empty key xml", "empty key apps xml", "control character xml"]),
        ]),
        change: documents::odd_metadata,
    },
    Difference {
        id: "upper-case-group",
        java: "appGroupName in upper case if it came as JSON, as sent if it came as XML",
        heureka: "in upper case",
        why: "wire.md Q31",
        of: Named(&[("07-register-xml", &["full: json", "full: xml", "all as xml", "all as json"])]),
        change: documents::upper_case_group,
    },
    // Paths
    Difference {
        id: "versions",
        java: "`/eureka/v1` and `/V2` 404, any text that begins `v2` works; `/ctx/eureka/v2` and `/v2` 404",
        heureka: "v1 and v2 in any case and nothing else, with and without context path, also at the top",
        why: "issue 3 point 6; wire.md 1.1, Q38; spring.md 1.3",
        of: Named(&[
            ("04-routing", &["V2 capital", "w16 v1", "top v2", "v2x prefix"]),
            ("24-context-path", &["v2 apps"]),
        ]),
        change: registry::versions,
    },
    Difference {
        id: "encoded-paths",
        java: "Tomcat refuses encoded slashes and raw brackets before the application sees them",
        heureka: "they are part of the id; a broken escape is 400 without a page",
        why: "wire.md 1.2, 10.2 row 90",
        of: Named(&[(
            "04-routing",
            &["odd id raw brackets", "slash id renew", "slash id get", "backslash in path", "bad percent"],
        )]),
        change: registry::encoded_paths,
    },
    Difference {
        id: "override-list",
        java: "unreachable on Spring",
        heureka: "all overrides by instance id",
        why: "wire.md 1.1 (recommended), 1.19, 10.4 row 119",
        of: Named(&[("04-routing", &["w119 serverinfo", "serverinfo v2"])]),
        change: registry::override_list,
    },
    Difference {
        id: "reserved-names",
        java: "the applications ALL_APPS and ALL_APPS_DELTA are the whole registry",
        heureka: "ordinary names: 404",
        why: "wire.md Q29, registry.md D23",
        of: Named(&[
            ("04-routing", &["ALL_APPS", "all_apps_delta"]),
            ("21-delta-disabled", &["application ALL_APPS_DELTA"]),
        ]),
        change: errors::not_found,
    },
    Difference {
        id: "vip-look-up",
        java: "exact letters, blanks counted; answers stay stale after a cancel",
        heureka: "exact match first, then any case, blanks trimmed; always current",
        why: "design, Decisions; wire.md Q12, Q13, 10.4 row 133; registry.md D22",
        of: Named(&[(
            "14-vips",
            &["w133 b", "w133 c", "a after cancel", "B after cancel", "a compact after cancel"],
        )]),
        change: registry::vip_look_up,
    },
    // Registry
    Difference {
        id: "poison",
        java: "a default data center named Amazon is stored and makes lists empty for everybody",
        heureka: "refused; all else goes on",
        why: "wire.md Q22, 10.2 row 54",
        of: Named(&[("10-poison", &["w54 *", "apps *", "instance *", "delta *", "vip json", "cancel"])]),
        change: registry::poison,
    },
    Difference {
        id: "override-removal",
        java: "an override removed without a value leaves UNKNOWN until the client registers again",
        heureka: "back to the status last reported, at once; an override UNKNOWN is a removal",
        why: "design, Decisions; registry.md D16; wire.md 10.4 row 114",
        of: Named(&[(
            "12-status-override",
            &[
                "w114: json",
                "w114: xml",
                "w114 renew",
                "w114 apps",
                "value UNKNOWN: json",
                "timestamp word: json",
                "remove with timestamp only: json",
            ],
        )]),
        change: registry::override_removal,
    },
    Difference {
        id: "overrides-by-application",
        java: "two applications with the same instance id share overrides",
        heureka: "overrides belong to application and id",
        why: "design, Decisions; registry.md D14",
        of: Named(&[("12-status-override", &["override shared by id: json", "override gone: json"])]),
        change: registry::overrides_by_application,
    },
    Difference {
        id: "visible-heartbeats",
        java: "an override that comes with a heartbeat shows at the next one, silently",
        heureka: "it shows at once and is a modification",
        why: "registry.md D11, D12",
        of: Named(&[
            ("11-renew-cancel", &["after w99", "after renew", "apps after renew", "w103 *"]),
            ("18-batch", &["w144: json"]),
        ]),
        change: registry::visible_heartbeats,
    },
    Difference {
        id: "tombstones",
        java: "a replicated registration that is older than the cancel before it brings the instance back",
        heureka: "it is answered 200 and dropped",
        why: "replication.md 9.3.3; design, Decisions (replication)",
        of: Named(&[(
            "18-batch",
            &[
                "lower application: json",
                "action number",
                "w153 unknown member",
                "string timestamp",
                "delta afterwards",
                "apps afterwards",
            ],
        )]),
        change: registry::tombstones,
    },
    Difference {
        id: "conflict-of-its-time",
        java: "a conflict inside a batch is written after the batch: a later cancel shows in it",
        heureka: "the instance as it was when its item was answered",
        why: "registry.md D6: every operation is atomic to every observer",
        of: Named(&[("18-batch", &["mixed"])]),
        change: registry::conflict_of_its_time,
    },
    Difference {
        id: "merge-window",
        java: "reads lag by up to 30 s behind writes, each key by itself",
        heureka: "a merge window of 100 ms for all formats together",
        why: "design, Decisions on the Java server's defects (read-only tier)",
        of: Named(&[("20-default-caches", &["*"])]),
        change: registry::merge_window,
    },
    Difference {
        id: "cluster-issue",
        java: "takes over the newer instance with which its peer answered a heartbeat",
        heureka: "the instance as it is without that peer: no stand-in peer plays in this replay",
        why: "peerRequests, and the answers of a stand-in peer, belong to the tests of the cluster",
        of: Named(&[("40-replication-sent", &["after 409"])]),
        change: registry::without_peer,
    },
    // Server status, pages, actuator
    Difference {
        id: "options",
        java: "a WADL document, a list of methods or nothing, by Accept",
        heureka: "the methods in Allow, no body",
        why: "wire.md 1.2: no client uses it",
        of: Where(pages::is_options),
        change: pages::options,
    },
    Difference {
        id: "status-report",
        java: "figures of a JVM; 500 in JSON by default; passwords of peers in clear",
        heureka: "figures of its own process; valid JSON; no passwords",
        why: "wire.md 1.18, Q23; spring.md 1.4",
        of: Where(pages::is_status_report),
        change: pages::status_report,
    },
    Difference {
        id: "own-pages",
        java: "its own mark-up",
        heureka: "its own mark-up, with the headings and ids that scrapers use",
        why: "issue 3 point 10; spring.md 2.1",
        of: Where(pages::is_page),
        change: pages::own_page,
    },
];
