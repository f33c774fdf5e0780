// The OpenAI SDK for Node: jobs as JSON lines in, what the program saw as JSON lines out.
// The one argument is the folder whose node_modules has the SDK.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.argv[2] + "/");
const { OpenAI } = require("openai");
const { ResponsesWS } = require("openai/resources/responses/ws");

const TERMINAL = ["response.completed", "response.incomplete", "response.failed", "error"];

function noteFailure(seen, error, status) {
  seen.code = error?.code ?? seen.code;
  seen.status = status ?? null;
}

function noteResponse(seen, response) {
  if (!seen.ids.includes(response.id)) seen.ids.push(response.id);
  if (response.error) noteFailure(seen, response.error, null);
}

function noteEvent(seen, event) {
  seen.types.push(event.type);
  if (event.type === "response.output_text.delta") seen.text += event.delta;
  if (event.type === "error") noteFailure(seen, event.error ?? event, event.status);
  if (event.response) noteResponse(seen, event.response);
}

const MODES = {
  async stream(client, request, seen) {
    const events = await client.responses.create({ ...request, stream: true });
    for await (const event of events) noteEvent(seen, event);
  },

  async helper(client, request, seen) {
    const events = client.responses.stream(request);
    for await (const event of events) noteEvent(seen, event);
    const final = await events.finalResponse();
    if (final.status === "completed" && final.output_text !== seen.text) throw new Error("the final text is another one");
  },

  async body(client, request, seen) {
    const response = await client.responses.create(request);
    noteResponse(seen, response);
    seen.types.push(response.status);
    seen.text = response.output_text;
  },

  async socket(client, request, seen) {
    const socket = new ResponsesWS(client);
    socket.on("error", () => {}); // what has no listener ends the process
    try {
      for await (const part of socket.stream()) {
        if (part.type === "open") socket.send({ type: "response.create", ...request });
        if (part.type === "error" && part.error.error) noteEvent(seen, part.error.error);
        else if (part.type === "error") throw part.error;
        if (part.type === "message") noteEvent(seen, part.message);
        if (TERMINAL.includes(seen.types.at(-1))) break;
      }
    } finally {
      socket.close();
    }
  },
};

const clients = new Map(); // one for all its turns, as in a real program

function clientOf(job) {
  const told = JSON.stringify([job.url, job.key, job.max_retries]);
  if (!clients.has(told)) {
    const settings = { apiKey: job.key, baseURL: job.url, maxRetries: job.max_retries };
    clients.set(told, new OpenAI(settings));
  }
  return clients.get(told);
}

async function run(job) {
  const seen = { types: [], text: "", ids: [], code: null, status: null, raised: null };
  try {
    await MODES[job.mode](clientOf(job), job.request, seen);
  } catch (error) {
    seen.raised = error.constructor.name;
    noteFailure(seen, error, error.status);
  }
  return seen;
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await run(JSON.parse(line))) + "\n");
}
