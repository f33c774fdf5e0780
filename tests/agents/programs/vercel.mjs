// The Vercel AI SDK: `streamText` with one tool and several steps, the messages kept between.
// Arguments: the folder whose node_modules has the SDK, and the job as JSON (conversing.py).

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.argv[2] + "/");
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { streamText, tool, stepCountIs } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { z } = await load("zod");

const STEPS = 5; // more than the model needs
const job = JSON.parse(process.argv[3]);
const provider = createOpenAI({ apiKey: job.key, baseURL: job.url });
const openai = { sealed: { store: false, include: ["reasoning.encrypted_content"] } }[job.way] ?? {};

const told = { answers: [], tools: 0, raised: null };
const tools = {
  look_up: tool({
    description: "Look up in what state a thing is.",
    inputSchema: z.object({ what: z.string() }),
    execute: async () => {
      told.tools += 1;
      return "open";
    },
  }),
};

const messages = [];
let { headers } = job;
try {
  for (const question of job.questions) {
    messages.push({ role: "user", content: question });
    const result = streamText({
      model: provider.responses(job.model),
      messages,
      tools,
      headers,
      stopWhen: stepCountIs(STEPS),
      providerOptions: { openai },
      onError: () => {}, // the stream tells of it, too; unsaid, it is printed
    });
    for await (const part of result.fullStream) if (part.type === "error") throw part.error;
    told.answers.push(await result.text);
    messages.push(...(await result.response).messages);
    headers = {};
  }
} catch (error) {
  told.raised = `${error.constructor.name}: ${error.message}`;
}
process.stdout.write(JSON.stringify(told) + "\n");
