"""Hooks of Schemathesis, which `cargo xtask fuzz-api` runs.

They generate values of the service's custom formats, operation keys that no other operation uses, distinct
synonyms, and valid names of form parts.
"""

import json
import os
import re
import urllib.request
import uuid

import schemathesis
from hypothesis import strategies as st

LONGEST_KEY = 255
LONGEST_PHRASE = 60


def upload():
    """Uploads a file. Returns its `signed_id`."""
    boundary = "fuzz"
    form = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\na\r\n--{boundary}--\r\n'
    )
    request = urllib.request.Request(
        os.environ["FUZZ_URL"] + "/api/external/v2/attachments",
        data=form.encode(),
        headers={"X-Api-Key": os.environ["FUZZ_KEY"], "Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["signed_id"]


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
schemathesis.openapi.format("signed-id", st.sampled_from([upload(), "", " "]))


# Fields with these formats.
OWN_FORMATS = {"body", "content", "cover_image_signed_id", "website_url"}


@schemathesis.hook
def filter_case(context, case):
    """Skips cases that only violate a custom format. Schemathesis takes any text as a violation of a format
    that it does not know, but most text is valid HTML."""
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


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes phrases distinct, and operation keys unique to each operation, as the contract requires of clients.

    A used key gets the saved response, possibly of another operation, and the body is not validated.
    """
    if case.operation.label == "PUT /api/external/v1/synonyms" and isinstance(case.body, dict) and "synonyms" in case.body:
        case.body = {**case.body, "synonyms": distinct_phrases(case.body["synonyms"])}
    body = case.body
    key = body.get("operation_key") if isinstance(body, dict) else None
    if not isinstance(key, str) or not key.strip() or "\0" in key or len(key) > LONGEST_KEY:
        return
    meta = case.meta
    alone = meta is None or meta.generation.mode.is_negative
    scope = str(uuid.uuid4()) if alone else case.operation.label
    case.body = {**body, "operation_key": str(uuid.uuid5(uuid.NAMESPACE_URL, scope + key))}
