// Makes the usual calls with the client that openapi-generator generates for TypeScript. Prints their number.

import * as roadmap from "./generated/typescript-fetch/index.js";

declare const process: { env: Record<string, string>; exit(code: number): never };

let calls = 0;
const counted: typeof fetch = (...request) => {
  calls += 1;
  return fetch(...request);
};
const configuration = new roadmap.Configuration({
  basePath: process.env.ROADMAP_URL,
  apiKey: () => process.env.ROADMAP_KEY,
  fetchApi: counted,
});
const requests = new roadmap.FeatureRequestsApi(configuration);
const votes = new roadmap.VotesApi(configuration);
const comments = new roadmap.CommentsApi(configuration);
const notes = new roadmap.ReferenceNotesApi(configuration);
const tracks = new roadmap.TracksApi(configuration);
const board = new roadmap.RoadmapApi(configuration);
const changelogs = new roadmap.ChangelogsApi(configuration);
const settings = new roadmap.SettingsApi(configuration);
const files = new roadmap.FilesApi(configuration);

function check(isSo: boolean | undefined): void {
  if (!isSo) throw new Error("a response has something else");
}

/** Creates a feature request with a title that no other one has. */
async function create(title: string, fields: Omit<roadmap.NewFeatureRequest, "title">) {
  const created = await requests.createFeatureRequest({
    createFeatureRequest: {
      featureRequest: { title: `${title} ${crypto.randomUUID()}`, ...fields },
      customer: { email: "ann@example.com", name: "Ann" },
    },
  });
  return created.featureRequest;
}

const first = await create("Generated client", { tags: ["typescript"], description: "One\ntwo" });
const second = await create("Another one", { _private: false });
const found = await requests.searchFeatureRequests({ query: first.title });
check(found.featureRequests.some((request) => request.id === first.id));
await requests.listSimilarFeatureRequests({ title: first.title });
check((await requests.showFeatureRequest({ id: first.id })).featureRequest.tags.join() === "typescript");
const tags = ["typescript", "generated"];
const changed = await requests.updateFeatureRequest({
  id: first.id,
  updateFeatureRequest: { featureRequest: { tags } },
});
check(changed.featureRequest.tags.join() === tags.join());

const upvote = { customer: { email: "bob@example.com" }, referenceNote: { body: "Asked in a call" } };
const idempotencyKey = crypto.randomUUID();
const cast = await votes.createUpvote({ id: first.id, createUpvote: upvote, idempotencyKey });
const again = await votes.createUpvote({ id: first.id, createUpvote: upvote, idempotencyKey });
check(cast.voteRegistered && again.voteRegistered && again.featureRequest.votesCount === 2);
await votes.createUpvote({ id: second.id, createUpvote: { referenceNote: { body: "Alone" } } });
check((await votes.withdrawUpvote({ id: first.id, email: "bob@example.com" })).voteRemoved);
const voted = await votes.listVotes({ email: "ANN@example.com" });
check(voted.featureRequests.some((request) => request.id === first.id));
check((await votes.listVoters({ id: first.id })).voters[0].email === "ann@example.com");

const comment = { comment: { content: "<p>Soon</p>" }, notifyAllVoters: false };
const posted = await comments.createComment({ id: first.id, createComment: comment });
check(posted.comment.content === "<p>Soon</p>");
check((await comments.listComments({ id: first.id })).totalCount === 1);
check((await notes.listReferenceNotes({ id: first.id })).referenceNotes[0].body === "Asked in a call");

const track = (await tracks.listTracks()).tracks[2];
const moveFeatureRequest = { trackId: track.id, operationKey: crypto.randomUUID() };
const moved = await requests.moveFeatureRequest({ id: first.id, moveFeatureRequest });
check(moved.featureRequest.track === track.name);
check((await board.listLanes()).lanes.length > 0);
check((await board.showRoadmap({ perLane: 2 })).lanes.length > 0);

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const file = await files.createAttachment({ file: new File([png], "grün.png") });
check(file.filename === "grün.png");
const changelog = await changelogs.createChangelog({
  createChangelog: {
    changelog: {
      title: "Generated",
      content: "<p>New</p>",
      coverImageSignedId: file.signedId,
      featureRequestIds: [first.id],
    },
  },
});
check(changelog.changelog.status === "draft");
const listed = await changelogs.listChangelogs({ pageSize: 100 });
check(listed.changelogs.some((each) => each.id === changelog.changelog.id));
const published = await changelogs.publishChangelog({ id: changelog.changelog.id });
check(published.changelog.status === "published");

const productName = (await settings.getSetting()).setting.productName;
const setting = await settings.updateSetting({ updateSetting: { setting: { productName } } });
check(setting.setting.productName === productName);
const merged = await requests.mergeFeatureRequest({ id: second.id, mergeFeatureRequest: { targetId: first.id } });
check(merged.merged.id === second.id);

try {
  await requests.showFeatureRequest({ id: "0" });
  throw new Error("a feature request without a number was found");
} catch (error) {
  if (!(error instanceof roadmap.ResponseError)) throw error;
  check(error.response.status === 404);
}

console.log(calls);
