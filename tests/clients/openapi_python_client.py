"""Makes the usual calls with the client that openapi-python-client generates. Prints their number."""

import importlib
import io
import os
import sys
import uuid

sys.path.insert(0, "generated")

from openapi_python_client_roadmap import AuthenticatedClient, models, types

client = AuthenticatedClient(
    base_url=os.environ["ROADMAP_URL"], token=os.environ["ROADMAP_KEY"], prefix="", auth_header_name="X-Api-Key"
)

CALLS = 0


def call(operation, *arguments, status=200, **named):
    """Calls an operation, `feature_requests.create_feature_request`, and counts it."""
    global CALLS
    CALLS += 1
    module = importlib.import_module(f"openapi_python_client_roadmap.api.{operation}")
    response = module.sync_detailed(*arguments, client=client, **named)
    if response.status_code != status:
        sys.exit(f"{operation} returned {response.status_code}: {response.content}")
    return response.parsed


def check(is_so):
    """Fails with the line of the caller. Asserts could be switched off."""
    if not is_so:
        sys.exit(f"line {sys._getframe(1).f_lineno} found something else")


def new_request(title, **fields):
    """Creates a feature request with a title that no other one has."""
    new = models.NewFeatureRequest(title=f"{title} {uuid.uuid4()}", **fields)
    ann = models.Customer(email="ann@example.com", name="Ann")
    body = models.CreateFeatureRequest(feature_request=new, customer=ann)
    return call("feature_requests.create_feature_request", body=body, status=201).feature_request


first = new_request("Generated client", tags=["python"], description="One\ntwo")
second = new_request("Another one", private=False)
found = call("feature_requests.search_feature_requests", query=first.title).feature_requests
check(first.id in [request.id for request in found])
call("feature_requests.list_similar_feature_requests", title=first.title)
reference = str(first.id)
check(call("feature_requests.show_feature_request", reference).feature_request.tags == ["python"])
change = models.UpdateFeatureRequest(feature_request=models.FeatureRequestChange(tags=["python", "generated"]))
changed = call("feature_requests.update_feature_request", reference, body=change)
check(changed.feature_request.tags == ["python", "generated"])

bob = models.Customer(email="bob@example.com")
upvote = models.CreateUpvote(customer=bob, reference_note=models.ReferenceNote(body="Asked in a call"))
key = str(uuid.uuid4())
cast = call("votes.create_upvote", reference, body=upvote, idempotency_key=key, status=201)
again = call("votes.create_upvote", reference, body=upvote, idempotency_key=key, status=201)
check(cast.vote_registered and cast == again and cast.feature_request.votes_count == 2)
note = models.CreateUpvote(reference_note=models.ReferenceNote(body="Alone"))
call("votes.create_upvote", str(second.id), body=note, status=201)
check(call("votes.withdraw_upvote", reference, email="bob@example.com").vote_removed)
voted = call("votes.list_votes", email="ANN@example.com").feature_requests
check(first.id in [request.id for request in voted])
check(call("votes.list_voters", reference).voters[0].email == "ann@example.com")

comment = models.CreateComment(comment=models.NewComment(content="<p>Soon</p>"), notify_all_voters=False)
check(call("comments.create_comment", reference, body=comment, status=201).comment.content == "<p>Soon</p>")
check(call("comments.list_comments", reference).total_count == 1)
check(call("reference_notes.list_reference_notes", reference).reference_notes[0].body == "Asked in a call")

track = call("tracks.list_tracks").tracks[2]
move = models.MoveFeatureRequest(track_id=str(track.id), operation_key=str(uuid.uuid4()))
moved = call("feature_requests.move_feature_request", reference, body=move)
check(moved.feature_request.track == track.name)
check(len(call("roadmap.list_lanes").lanes) > 0)
check(len(call("roadmap.show_roadmap", per_lane=2).lanes) > 0)

file = types.File(payload=io.BytesIO(b"\x89PNG\r\n\x1a\n"), file_name="grün.png", mime_type="image/png")
uploaded = call("files.create_attachment", body=models.Upload(file=file), status=201)
check(uploaded.filename == "grün.png")
new = models.NewChangelog(
    title="Generated",
    content="<p>New</p>",
    cover_image_signed_id=uploaded.signed_id,
    feature_request_ids=[reference],
)
body = models.CreateChangelog(changelog=new)
changelog = call("changelogs.create_changelog", body=body, status=201).changelog
check(changelog.status == "draft")
listed = call("changelogs.list_changelogs", page_size=100).changelogs
check(changelog.id in [each.id for each in listed])
published = call("changelogs.publish_changelog", str(changelog.id), body=models.PublishChangelog())
check(published.changelog.status == "published")

name = call("settings.get_setting").setting.product_name
setting = models.UpdateSetting(setting=models.SettingChange(product_name=name))
check(call("settings.update_setting", body=setting).setting.product_name == name)
target = models.MergeFeatureRequest(target_id=reference)
merged = call("feature_requests.merge_feature_request", str(second.id), body=target)
check(merged.merged.id == second.id)

missing = call("feature_requests.show_feature_request", "0", status=404)
check(missing.error == "FeatureRequest does not exist.")

print(CALLS)
