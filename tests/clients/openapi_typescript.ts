// Uses the types that openapi-typescript generates. It is only compiled.

import type { components, operations } from "./generated/openapi-typescript.js";

type Body<Name extends keyof components["schemas"]> = components["schemas"][Name];

// Fields that have a value without being sent are not required.
export const created: Body<"CreateFeatureRequest"> = { feature_request: { title: "Dark mode" } };
export const voted: Body<"CreateUpvote"> = { customer: { email: "ann@example.com" }, operation_key: "1" };
export const noted: Body<"CreateUpvote"> = { reference_note: { body: "Asked in a call" } };
export const commented: Body<"CreateComment"> = { comment: { content: "Soon" } };
export const moved: Body<"MoveFeatureRequest"> = { track_id: "01976800-c95f-7d4d-9d90-7a6bf43233fb" };
export const announced: Body<"CreateChangelog"> = { changelog: { title: "New", content: "Dark mode" } };
export const published: Body<"PublishChangelog"> = {};
export const headers: operations["createUpvote"]["parameters"]["header"] = { "Idempotency-Key": "1" };
export const page: operations["listVoters"]["parameters"]["query"] = {};
