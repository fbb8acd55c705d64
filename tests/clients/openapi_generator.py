"""Makes the usual calls with the client that openapi-generator generates for Python. Prints their number."""

import os
import sys
import uuid

sys.path.insert(0, "generated/python")

import openapi_client as roadmap
from openapi_client.exceptions import ApiException

configuration = roadmap.Configuration(host=os.environ["ROADMAP_URL"], api_key={"ApiKey": os.environ["ROADMAP_KEY"]})
client = roadmap.ApiClient(configuration)
requests, votes = roadmap.FeatureRequestsApi(client), roadmap.VotesApi(client)
comments, notes = roadmap.CommentsApi(client), roadmap.ReferenceNotesApi(client)
tracks, board = roadmap.TracksApi(client), roadmap.RoadmapApi(client)
changelogs, settings, files = roadmap.ChangelogsApi(client), roadmap.SettingsApi(client), roadmap.FilesApi(client)

CALLS = 0


def call(method, *arguments, **named):
    """Calls an operation and counts it."""
    global CALLS
    CALLS += 1
    return method(*arguments, **named)


def check(is_so):
    """Fails with the line of the caller. Asserts could be switched off."""
    if not is_so:
        sys.exit(f"line {sys._getframe(1).f_lineno} found something else")


def new_request(title, **fields):
    """Creates a feature request with a title that no other one has."""
    new = roadmap.NewFeatureRequest(title=f"{title} {uuid.uuid4()}", **fields)
    ann = roadmap.Customer(email="ann@example.com", name="Ann")
    body = roadmap.CreateFeatureRequest(feature_request=new, customer=ann)
    return call(requests.create_feature_request, body).feature_request


first = new_request("Generated client", tags=["python"], description="One\ntwo")
second = new_request("Another one", private=False)
reference = str(first.id)
check(first.id in [found.id for found in call(requests.search_feature_requests, query=first.title).feature_requests])
call(requests.list_similar_feature_requests, title=first.title)
check(call(requests.show_feature_request, reference).feature_request.tags == ["python"])
change = roadmap.FeatureRequestChange(tags=["python", "generated"])
changed = call(requests.update_feature_request, reference, roadmap.UpdateFeatureRequest(feature_request=change))
check(changed.feature_request.tags == ["python", "generated"])

bob = roadmap.Customer(email="bob@example.com")
upvote = roadmap.CreateUpvote(customer=bob, reference_note=roadmap.ReferenceNote(body="Asked in a call"))
key = str(uuid.uuid4())
cast = call(votes.create_upvote, reference, upvote, idempotency_key=key)
again = call(votes.create_upvote, reference, upvote, idempotency_key=key)
check(cast.vote_registered and cast == again and cast.feature_request.votes_count == 2)
call(votes.create_upvote, str(second.id), roadmap.CreateUpvote(reference_note=roadmap.ReferenceNote(body="Alone")))
check(call(votes.withdraw_upvote, reference, "bob@example.com").vote_removed)
check(first.id in [voted.id for voted in call(votes.list_votes, "ANN@example.com").feature_requests])
check(call(votes.list_voters, reference).voters[0].email == "ann@example.com")

comment = roadmap.CreateComment(comment=roadmap.NewComment(content="<p>Soon</p>"), notify_all_voters=False)
check(call(comments.create_comment, reference, comment).comment.content == "<p>Soon</p>")
check(call(comments.list_comments, reference).total_count == 1)
check(call(notes.list_reference_notes, reference).reference_notes[0].body == "Asked in a call")

track = call(tracks.list_tracks).tracks[2]
move = roadmap.MoveFeatureRequest(track_id=str(track.id), operation_key=str(uuid.uuid4()))
check(call(requests.move_feature_request, reference, move).feature_request.track == track.name)
check(len(call(board.list_lanes).lanes) > 0)
check(len(call(board.show_roadmap, per_lane=2).lanes) > 0)

file = call(files.create_attachment, ("cover.png", b"\x89PNG\r\n\x1a\n"))
check(file.filename == "cover.png")
new = roadmap.NewChangelog(
    title="Generated", content="<p>New</p>", cover_image_signed_id=file.signed_id, feature_request_ids=[reference]
)
changelog = call(changelogs.create_changelog, roadmap.CreateChangelog(changelog=new)).changelog
check(changelog.status == "draft")
check(changelog.id in [listed.id for listed in call(changelogs.list_changelogs, page_size=100).changelogs])
check(call(changelogs.publish_changelog, str(changelog.id)).changelog.status == "published")

name = call(settings.get_setting).setting.product_name
setting = roadmap.SettingChange(product_name=name)
check(call(settings.update_setting, roadmap.UpdateSetting(setting=setting)).setting.product_name == name)
merged = call(requests.merge_feature_request, str(second.id), roadmap.MergeFeatureRequest(target_id=reference))
check(merged.merged.id == second.id)

try:
    call(requests.show_feature_request, "0")
    sys.exit("a feature request without a number was found")
except ApiException as error:
    check(error.status == 404 and "FeatureRequest does not exist." in error.body)

print(CALLS)
