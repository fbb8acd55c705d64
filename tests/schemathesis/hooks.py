"""What Schemathesis has to know of the service beyond its document.

`cargo xtask fuzz-api` runs it with this file: texts of the formats that are the service's own, and
operation keys that no other operation uses, and names of parts that the head of a part can carry.
"""

import json
import os
import re
import urllib.request
import uuid

import schemathesis
from hypothesis import strategies as st

LONGEST_KEY = 255


def upload():
    """A file of the workspace; returns the reference that covers take."""
    boundary = "fuzz"
    form = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\na\r\n--{boundary}--\r\n'
    )
    request = urllib.request.Request(
        os.environ["FUZZ_URL"] + "/api/external/v2/attachments",
        data=form.encode(),
        headers={"X-Api-Key": os.environ["FUZZ_KEY"], "Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["signed_id"]


TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"))
LABEL = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True).filter(lambda label: label[2:4] != "--")

# Text of which something is left when its markup was cleaned: it begins before any markup does.
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


# The fields that have these formats.
OWN_FORMATS = {"body", "content", "cover_image_signed_id", "website_url"}


@schemathesis.hook
def filter_case(context, case):
    """Schemathesis takes every text for a violation of a format that it does not know, and most text is
    good HTML. What else is wrong with these fields is tried all the same."""
    mutations = getattr(case.meta.phase.data, "mutations", ()) if case.meta else ()
    undecided = [
        set(mutation.keywords) <= {"format"} and bool(OWN_FORMATS & set(mutation.schema_pointer.split("/")))
        for mutation in mutations
    ]
    return not undecided or not all(undecided)


@schemathesis.hook
def map_body(context, body):
    """A form whose parts have names with quotation marks or control characters is malformed, and the
    document speaks of well-formed ones."""
    if context.operation.label == "POST /api/external/v2/attachments" and isinstance(body, dict):
        return {re.sub(r"[^\w-]", "-", name, flags=re.ASCII) or "-": part for name, part in body.items()}
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    """Each operation has keys of its own, as the contract asks of clients.

    A key that was used by another operation has that operation's answer, and a body that is wrong is
    not looked at when its key was used. Where keys meet without that, they are left to meet.
    """
    body = case.body
    key = body.get("operation_key") if isinstance(body, dict) else None
    if not isinstance(key, str) or not key.strip() or "\0" in key or len(key) > LONGEST_KEY:
        return
    meta = case.meta
    alone = meta is None or meta.generation.mode.is_negative
    scope = str(uuid.uuid4()) if alone else case.operation.label
    case.body = {**body, "operation_key": str(uuid.uuid5(uuid.NAMESPACE_URL, scope + key))}
