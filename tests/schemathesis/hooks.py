"""Hooks of Schemathesis, which `cargo xtask fuzz-api` runs.

They generate values of the service's custom formats, operation keys that no other operation uses, distinct
synonyms, free names of lanes and tracks, and valid names of form parts. They also establish the conditions of
operations that the document cannot state: a feature request or a customer to merge into, a track to move to,
a changelog that can be scheduled, and a comment that waits for approval.
"""

import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
import uuid

import schemathesis
from hypothesis import strategies as st

KEY_HEADER = "Idempotency-Key"
LONGEST_KEY = 255
LONGEST_NAME = 200
LONGEST_PHRASE = 60
V1 = "/api/external/v1"


def send(method, path, data=None, content_type="application/json"):
    """Sends a request to the service. Returns the JSON of its response."""
    headers = {"X-Api-Key": os.environ["FUZZ_KEY"], "Content-Type": content_type}
    request = urllib.request.Request(os.environ["FUZZ_URL"] + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def send_json(method, path, body):
    """Sends a JSON body. Returns the JSON of the response."""
    return send(method, path, json.dumps(body).encode())


def upload():
    """Uploads an image that stays, because it is the cover of a changelog. Returns its `signed_id`."""
    boundary = "fuzz"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    form = head.encode() + b"\x89PNG\r\n\x1a\n" + f"\r\n--{boundary}--\r\n".encode()
    content_type = f"multipart/form-data; boundary={boundary}"
    signed_id = send("POST", "/api/external/v2/attachments", form, content_type)["signed_id"]
    changelog = {"title": "Cover", "content": "It stays", "cover_image_signed_id": signed_id}
    send_json("POST", f"{V1}/changelogs", {"changelog": changelog})
    return signed_id


def merge_target():
    """Creates a public feature request into which anything can be merged. Returns its id."""
    created = send_json("POST", f"{V1}/feature_requests", {"feature_request": {"title": "Target"}})
    return created["feature_request"]["id"]


def customer_target():
    """Creates a customer into whom anybody can be merged. Returns the id."""
    email = f"target-{uuid.uuid4()}@fuzz.example"
    body = {"feature_request": {"title": "Target"}, "customer": {"email": email}}
    send_json("POST", f"{V1}/feature_requests", body)
    return send("GET", f"{V1}/customers?query={email}")["customers"][0]["id"]


def lasting_track():
    """Creates a track that nothing deletes, because nothing refers to it. Returns its id."""
    return send_json("POST", f"{V1}/tracks", {"track": {"name": f"Lasting {uuid.uuid4()}"}})["track"]["id"]


TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"))
LABEL = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True).filter(lambda label: label[2:4] != "--")

# Text that is not empty after sanitizing, because it begins before any markup.
schemathesis.openapi.format("html", TEXT.map(lambda text: "x" + text))
schemathesis.openapi.format(
    "http-url",
    st.builds(
        lambda scheme, labels, port, rest: f"{scheme}://{'.'.join(labels)}.example{port}{rest}",
        st.sampled_from(["http", "https", "HTTP"]),
        st.lists(LABEL, min_size=1, max_size=3),
        st.sampled_from(["", ":8080", ":65535"]),
        st.from_regex(r"(/[!-\[\]-~\u00a1-\u061b\u061d-\u167f]*)?", fullmatch=True),
    ),
)
schemathesis.openapi.format(
    "webhook-url",
    st.builds(
        lambda scheme, labels, port, rest: f"{scheme}://{'.'.join(labels)}.invalid{port}{rest}",
        st.sampled_from(["https", "HTTPS"]),
        st.lists(LABEL, min_size=1, max_size=3),
        st.sampled_from(["", ":80", ":443", ":8080", ":65535"]),
        st.from_regex(r"(/[!$-\[\]-~]{0,200})?", fullmatch=True),
    ),
)
schemathesis.openapi.format(
    "http-origin",
    st.builds(
        lambda scheme, labels, port, end: f"{scheme}://{'.'.join(labels)}.example{port}{end}",
        st.sampled_from(["http", "https", "HTTPS"]),
        st.lists(LABEL, min_size=1, max_size=3),
        st.sampled_from(["", ":443", ":8080"]),
        st.sampled_from(["", "/"]),
    ),
)
schemathesis.openapi.format(
    "mail-domain",
    st.builds(
        lambda at, labels: f"{at}{'.'.join(labels)}.example",
        st.sampled_from(["", "@"]),
        st.lists(LABEL, min_size=1, max_size=3),
    ),
)
schemathesis.openapi.format("signed-id", st.sampled_from([upload(), "", " "]))
schemathesis.openapi.format("time-zone", st.sampled_from(["Europe/Berlin", "utc", "America/New_York", "", " "]))


def given_timestamps(least, most):
    """Generates timestamps of RFC 3339 between these years, in any zone."""
    return st.builds(
        lambda year, month, day, hour, rest, zone: f"{year:04}-{month:02}-{day:02}T{hour:02}:{rest}{zone}",
        st.integers(least, most),
        st.integers(1, 12),
        st.integers(1, 28),
        st.integers(0, 23),
        st.sampled_from(["00:00", "59:59", "30:15.5", "07:08.123456"]),
        st.sampled_from(["Z", "+00:00", "-11:30", "+14:00"]),
    )


def timestamps(least, most):
    """Generates such timestamps, and blank ones."""
    return st.one_of(st.sampled_from(["", " "]), given_timestamps(least, most))


schemathesis.openapi.format("timestamp", timestamps(1, 9998))
schemathesis.openapi.format("given-timestamp", given_timestamps(1, 9998))
schemathesis.openapi.format("future-timestamp", timestamps(2200, 9998))

TRACK = lasting_track()

# Fields, parameters and headers with these formats. Beside `X-Api-Key`, an `Authorization` without a key is ignored.
OWN_FORMATS = {
    "Authorization",
    "body",
    "content",
    "cover_image_signed_id",
    "embed_origins",
    "from",
    "logo_signed_id",
    "mail_domains",
    "publish_at",
    "reply_to",
    "since",
    "time_zone",
    "to",
    "url",
    "website_url",
}


def with_rules(schema):
    """Replaces the key of the rules between fields, which generators of clients ignore, by `anyOf`."""
    if isinstance(schema, dict):
        return {"anyOf" if name == "x-any-of" else name: with_rules(value) for name, value in schema.items()}
    return [with_rules(value) for value in schema] if isinstance(schema, list) else schema


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Makes Schemathesis generate values that the rules between fields allow, and others that they forbid."""
    raw_schema["components"]["schemas"] = with_rules(raw_schema["components"]["schemas"])


def is_blank_form(value, names):
    """Whether all fields of an object are sent and blank or null, so that it counts as absent."""
    blank = lambda field: field is None or (isinstance(field, str) and not field.strip())
    return isinstance(value, dict) and all(name in value and blank(value[name]) for name in names)


@schemathesis.hook
def filter_case(context, case):
    """Skips cases that only violate a custom format. Schemathesis takes any text as a violation of a format
    that it does not know, but most text is valid HTML. Also skips objects that count as absent."""
    body = case.body if isinstance(case.body, dict) else {}
    forms = {"customer": ("email", "name"), "reference_note": ("body", "author_email")}
    if any(is_blank_form(body.get(form), names) for form, names in forms.items()):
        return False
    mutations = getattr(case.meta.phase.data, "mutations", ()) if case.meta else ()
    undecided = [
        set(mutation.keywords) <= {"format"} and bool(OWN_FORMATS & set(mutation.schema_pointer.split("/")))
        for mutation in mutations
    ]
    return not undecided or not all(undecided)


@schemathesis.hook
def map_body(context, body):
    """Removes quotation marks and control characters from the names of parts. With them the form is
    malformed, and the document describes well-formed forms."""
    if context.operation.label == "POST /api/external/v2/attachments" and isinstance(body, dict):
        return {re.sub(r"[^\w-]", "-", name, flags=re.ASCII) or "-": part for name, part in body.items()}
    return body


def distinct_phrases(groups):
    """Replaces the valid phrases of synonyms by words that differ from each other. The document cannot say
    that phrases with the same stems are the same, and which of them have a letter or digit."""
    if not isinstance(groups, list):
        return groups

    def distinct(phrase, group, position):
        text = phrase.strip() if isinstance(phrase, str) else ""
        is_valid = text and "\0" not in text and len(text) <= LONGEST_PHRASE
        return f"{group}word{position}" if is_valid else phrase

    return [
        [distinct(phrase, number, position) for position, phrase in enumerate(group)] if isinstance(group, list) else group
        for number, group in enumerate(groups)
    ]


def establish_conditions(label, case):
    """Makes a valid request one that the service can fulfil."""
    body = case.body if isinstance(case.body, dict) else {}
    for record in ("lane", "track"):
        fields = body.get(record)
        is_of_record = label.split(" ")[1].startswith(f"{V1}/{record}s")
        if is_of_record and isinstance(fields, dict) and isinstance(fields.get("name"), str):
            # Names must be free, regardless of case.
            name = f"{fields['name'].strip()[:LONGEST_NAME // 2]} {uuid.uuid4()}"
            case.body = {**body, record: {**fields, "name": name}}
    if label == f"POST {V1}/feature_requests/{{id}}/merge" and "target_id" in body:
        case.body = {**body, "target_id": merge_target()}
    if label == f"POST {V1}/customers/{{id}}/merge" and "target_id" in body:
        case.body = {**body, "target_id": customer_target()}
    if label == f"DELETE {V1}/tracks/{{id}}":
        # Its feature requests must have a track to go to.
        case.query = {**(case.query or {}), "move_to": TRACK}
    if label == f"POST {V1}/comments/{{id}}/approve":
        # Comments that wait are only submitted on the portal. Some were added before the run.
        comment = held_comment()
        case.path_parameters = {**case.path_parameters, "id": comment} if comment else case.path_parameters
    if label == f"GET {V1}/feature_requests/all" and str((case.query or {}).get("track_id") or "").strip():
        case.query = {**case.query, "track_id": TRACK}
    if is_of_list(case.query):
        # The list has not returned it: only the first part can be read. A page and other orders go without a cursor.
        query = {name: value for name, value in case.query.items() if name != "page"}
        orders = {"sort": "newest"} if label == f"GET {V1}/tracks/{{id}}/feature_requests" else {}
        case.query = {**query, "cursor": "", **orders}
    webhook = body.get("webhook")
    if isinstance(webhook, dict):
        # A chat service gets some events only, and the format cannot be changed.
        is_new = label == f"POST {V1}/webhooks"
        is_standard = is_new and str(webhook.get("format") or "").strip() in ("", "standard")
        fixed = {} if is_new else {"format": None}
        case.body = {**body, "webhook": {**webhook, **fixed, **({} if is_standard else {"events": None})}}
    changelog = body.get("changelog")
    if label == f"PATCH {V1}/changelogs/{{id}}" and isinstance(changelog, dict):
        if changelog.get("notify_subscribers") and "publish_at" not in changelog:
            # Only a changelog that is scheduled can announce mail.
            changelog = {**changelog, "publish_at": "2999-01-01T00:00:00Z"}
            case.body = {**body, "changelog": changelog}
        if changelog.get("publish_at"):
            # Only a changelog that is not published can be scheduled.
            unpublish(case.path_parameters.get("id"))


def is_of_list(query):
    """Whether a query has a cursor of a list, blank or not."""
    cursor = (query or {}).get("cursor")
    return isinstance(cursor, str) and re.fullmatch(r"([A-Za-z0-9_-]{43})?", cursor.strip()) is not None


def held_comment():
    """Returns the id of a comment that waits for approval, if there is one."""
    posts = send("GET", f"{V1}/held_posts?page_size=100")["held_posts"]
    return next((post["id"] for post in posts if post["kind"] == "comment"), None)


def unpublish(changelog):
    """Makes a changelog a draft, if it exists."""
    try:
        send_json("POST", f"{V1}/changelogs/{urllib.parse.quote(str(changelog), safe='')}/unpublish", {})
    except urllib.error.HTTPError:
        pass


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes phrases distinct, and operation keys unique to each operation, as the contract requires of clients.

    A used key gets the saved response, possibly of another operation, and the body is not validated.
    """
    label, meta = case.operation.label, case.meta
    is_negative = meta is None or meta.generation.mode.is_negative
    if label == f"PUT {V1}/synonyms" and isinstance(case.body, dict) and "synonyms" in case.body:
        case.body = {**case.body, "synonyms": distinct_phrases(case.body["synonyms"])}
    if not is_negative:
        establish_conditions(label, case)
    # In a sequence of requests, a saved response could be one of a record that was deleted meanwhile.
    alone = is_negative or meta.phase.name == "stateful"
    scope = str(uuid.uuid4()) if alone else label
    body = case.body
    key = body.get("operation_key") if isinstance(body, dict) else None
    if is_key(key):
        case.body = {**body, "operation_key": str(uuid.uuid5(uuid.NAMESPACE_URL, scope + key))}
    header = case.headers.get(KEY_HEADER) if case.headers else None
    if header is not None and is_key(key):
        # Two different keys are an error, which the document cannot say.
        del case.headers[KEY_HEADER]
    elif is_key(header):
        case.headers[KEY_HEADER] = str(uuid.uuid5(uuid.NAMESPACE_URL, scope + header))


def is_key(key):
    """Whether it is a valid operation key."""
    return isinstance(key, str) and key.strip() != "" and "\0" not in key and len(key) <= LONGEST_KEY
